// A button with a small panel under it: the browser's popover closes it by Escape or by a
// click elsewhere.
import { html, useEffect, useId, useRef, useState } from '../vendor/preact.js';
import { Icon } from './atoms.js';

export function Menu({ label, icon, children }) {
  const id = useId();
  const [open, setOpen] = useState(false);
  const pop = useRef(null);
  const button = useRef(null);
  useEffect(() => {
    if (!open) return;
    const at = button.current.getBoundingClientRect();
    pop.current.style.left = Math.max(8, Math.min(at.left, innerWidth - pop.current.offsetWidth - 8)) + 'px';
    pop.current.style.top = at.bottom + 4 + 'px';
  }, [open]);
  return html`<button ref=${button} type="button" class="btn" popovertarget=${id} aria-expanded=${open}><${Icon} name=${icon} size="16" />${label}</button>
    <div ref=${pop} id=${id} class="pop menu" popover="auto" onToggle=${(e) => setOpen(e.newState === 'open')}><div class="stack tight">${open && children}</div></div>`;
}
