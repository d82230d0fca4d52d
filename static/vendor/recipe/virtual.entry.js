export { Virtualizer, elementScroll, observeElementOffset, observeElementRect } from '@tanstack/virtual-core';
