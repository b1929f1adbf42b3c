import { expect, it } from 'vitest';
import { Keyboard, type KeyStroke } from './keyboard.ts';

function keyboardOf(...keys: string[]) {
  let nowMs = 0;
  const keyboard = new Keyboard(() => nowMs);
  keyboard.add(keys.map((name) => ({ keys: name, does: name, run: () => {} })));
  const stroke = (key: string, change: Partial<KeyStroke> = {}, hasLetterKeys = true) => {
    const plain = { key, ctrlKey: false, metaKey: false, altKey: false, isTyping: false, isModal: false };
    return keyboard.find({ ...plain, ...change }, hasLetterKeys)?.keys;
  };
  return { keyboard, stroke, wait: (ms: number) => (nowMs += ms) };
}

it('takes two letters that follow each other as one key', () => {
  const { stroke } = keyboardOf('g h', 'h');
  expect(stroke('g')).toBeUndefined();
  expect(stroke('h')).toBe('g h');
  expect(stroke('h')).toBe('h');
});

it('forgets the first letter after a second', () => {
  const { stroke, wait } = keyboardOf('g h', 'h');
  stroke('g');
  wait(1001);
  expect(stroke('h')).toBe('h');
});

it('waits on for the second letter while Shift goes down for it', () => {
  const { stroke } = keyboardOf('g ?');
  stroke('g');
  stroke('Shift');
  expect(stroke('?')).toBe('g ?');
});

it('leaves letters to what one types into, and to dialogs', () => {
  const { stroke } = keyboardOf('p', 'mod+k');
  expect(stroke('p', { isTyping: true })).toBeUndefined();
  expect(stroke('p', { isModal: true })).toBeUndefined();
  expect(stroke('k', { isTyping: true, ctrlKey: true })).toBe('mod+k');
  expect(stroke('K', { metaKey: true })).toBe('mod+k');
});

it('does nothing on single letters when they are switched off', () => {
  const { stroke } = keyboardOf('p', 'g h', 'mod+k');
  expect(stroke('p', {}, false)).toBeUndefined();
  expect(stroke('g', {}, false)).toBeUndefined();
  expect(stroke('h', {}, false)).toBeUndefined();
  expect(stroke('k', { ctrlKey: true }, false)).toBe('mod+k');
});

it('gives a key to its last binding, and returns it afterwards', () => {
  const { keyboard, stroke } = keyboardOf('r');
  const runs: string[] = [];
  const release = keyboard.add([{ keys: 'r', does: 'Replay', run: () => runs.push('screen') }]);
  keyboard
    .find({ key: 'r', ctrlKey: false, metaKey: false, altKey: false, isTyping: false, isModal: false }, true)
    ?.run();
  expect(runs).toEqual(['screen']);
  release();
  expect(stroke('r')).toBe('r');
  expect(keyboard.bindings).toHaveLength(1);
});
