import { useEffect, useRef } from 'react';
import { sessionState } from '../api/session-state.ts';
import { preferences } from '../preferences/preferences.ts';
import { type KeyBinding, Keyboard } from './keyboard.ts';

export const keyboard = new Keyboard(() => performance.now());

/** Starts to listen; to be called once. */
export function listenToKeys(): void {
  window.addEventListener('keydown', (event) => {
    // After the end of a session, the window is behind the sign-in page.
    if (event.defaultPrevented || event.isComposing || sessionState.value.kind !== 'signed-in') return;
    const isModal = topmostLayer() !== undefined;
    const { key, ctrlKey, metaKey, altKey } = event;
    // The editors live in shadow trees; from outside they would all look like a plain box.
    const [target = null] = event.composedPath();
    const stroke = { key, ctrlKey, metaKey, altKey, isTyping: isTypedInto(target), isModal };
    const binding = keyboard.find(stroke, preferences.value.hasLetterKeys);
    if (!binding) return;
    event.preventDefault();
    binding.run();
  });
}

/** Returns the dialog, menu or list above the page that was opened last. */
export function topmostLayer(): Element | undefined {
  return [...document.querySelectorAll('[role=dialog],[role=alertdialog],[role=menu],[role=listbox]')].at(-1);
}

/** Keys that work while the component is on the screen. `run` may change with every drawing, `keys` may not. */
export function useKeys(bindings: readonly KeyBinding[]): void {
  const latest = useRef(bindings);
  latest.current = bindings;
  const names = bindings.map(({ keys }) => keys).join('\n');
  // biome-ignore lint/correctness/useExhaustiveDependencies: the bindings are read through the ref; their names say when they change
  useEffect(
    () =>
      keyboard.add(latest.current.map((binding, index) => ({ ...binding, run: () => latest.current[index]?.run() }))),
    [names],
  );
}

function isTypedInto(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement)
    return !['checkbox', 'radio', 'button', 'submit', 'range'].includes(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable;
}
