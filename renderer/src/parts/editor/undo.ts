import { type ChangeSet, EditorState, type Extension, StateEffect, StateField, Transaction } from '@codemirror/state';
import type { Command, KeyBinding } from '@codemirror/view';

interface Step {
  /** What takes the step back. */
  inverse: ChangeSet;
  cursor: number;
  atMs: number;
}

interface Steps {
  done: readonly Step[];
  undone: readonly Step[];
}

/** What is typed without a pause is one step. */
const SAME_STEP_MS = 600;
const MAX_STEPS = 500;

const moved = StateEffect.define<'undo' | 'redo'>();

const steps = StateField.define<Steps>({
  create: () => ({ done: [], undone: [] }),
  update({ done, undone }, transaction) {
    if (!transaction.docChanged) return { done, undone };
    const inverse = transaction.changes.invert(transaction.startState.doc);
    const step = { inverse, cursor: transaction.startState.selection.main.head, atMs: Date.now() };
    const direction = transaction.effects.find((effect) => effect.is(moved))?.value;
    if (direction === 'undo') return { done: done.slice(0, -1), undone: [...undone, step] };
    if (direction === 'redo') return { done: [...done, step], undone: undone.slice(0, -1) };
    // A text that came from outside is a new beginning.
    if (transaction.annotation(Transaction.addToHistory) === false) return { done: [], undone: [] };
    const last = done.at(-1);
    const isSame = last !== undefined && undone.length === 0 && step.atMs - last.atMs < SAME_STEP_MS;
    const next = isSame ? { ...last, inverse: inverse.compose(last.inverse), atMs: step.atMs } : step;
    return { done: [...(isSame ? done.slice(0, -1) : done), next].slice(-MAX_STEPS), undone: [] };
  },
});

function move(direction: 'undo' | 'redo'): Command {
  return ({ state, dispatch }) => {
    const { done, undone } = state.field(steps);
    const step = (direction === 'undo' ? done : undone).at(-1);
    if (!step || state.facet(EditorState.readOnly)) return false;
    const anchor = Math.min(step.cursor, step.inverse.newLength);
    dispatch(
      state.update({
        changes: step.inverse,
        selection: { anchor },
        effects: moved.of(direction),
        scrollIntoView: true,
      }),
    );
    return true;
  };
}

/** Remembers changes so that they can be taken back. */
export const undoSteps: Extension = steps;

export const undoKeys: readonly KeyBinding[] = [
  { key: 'Mod-z', run: move('undo'), preventDefault: true },
  { key: 'Mod-Shift-z', run: move('redo'), preventDefault: true },
  { key: 'Mod-y', run: move('redo'), preventDefault: true },
];
