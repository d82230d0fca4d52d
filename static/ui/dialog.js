// The browser's own dialog: it keeps the focus inside, closes with Escape and gives the
// focus back to whatever opened it.
import { html, useEffect, useId, useRef } from '../vendor/preact.js';

/** @param {{title: any, onClose: () => void, wide?: boolean, onSubmit?: (e: Event) => void, children: any}} props */
export function Dialog({ title, onClose, wide, onSubmit, children }) {
  const ref = useRef(null);
  const id = useId();
  useEffect(() => {
    const back = document.activeElement;
    ref.current.showModal();
    return () => {
      // The opener may have been drawn anew; its id finds it again.
      const to = back?.isConnected ? back : back?.id && document.getElementById(back.id);
      (to || document.getElementById('main'))?.focus();
    };
  }, []);
  const submit = (e) => {
    e.preventDefault();
    onSubmit?.(e);
  };
  const outside = (e) => { if (e.target === ref.current) onClose(); };
  return html`<dialog ref=${ref} class=${wide ? 'wide' : ''} aria-labelledby=${id} onClose=${onClose} onMouseDown=${outside}>
    <form method="dialog" onSubmit=${submit}><h2 id=${id}>${title}</h2>${children}</form></dialog>`;
}
