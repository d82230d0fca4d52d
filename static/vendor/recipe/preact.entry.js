// What the dashboard uses of Preact, its hooks, signals and htm, as one module: two
// copies of Preact in one page would not know of each other's components.
export { h, Fragment, render, createRef } from 'preact';
export { useState, useEffect, useLayoutEffect, useRef, useMemo, useCallback, useId, useErrorBoundary } from 'preact/hooks';
export { signal, computed, effect, batch, untracked, useSignal, useComputed, useSignalEffect } from '@preact/signals';
import { h } from 'preact';
import htm from 'htm';

export const html = htm.bind(h);
