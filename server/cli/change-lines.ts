import type { DifferenceView } from '../api/routes/history.ts';
import type { AppliedSeed } from '../api/routes/seeds.ts';
import { styled, type Terminal } from './terminal.ts';

type Operation = DifferenceView['ops'][number];
/** A changed resource. A difference names the action; for a commit the action follows from its operations. */
type Changed = Omit<DifferenceView['resources'][number], 'action'> & Partial<DifferenceView['resources'][number]>;

/** Longer values of operations are cut. */
const SHOWN_CHARACTERS = 120;

const SIGNS = { create: '+', update: '~', delete: '-' };

export function changeLine(
  action: keyof typeof SIGNS,
  { type, path }: { type: string; path: string },
  terminal: Terminal,
): string {
  return styled(terminal, 'bold', `${SIGNS[action]} ${type} ${path}`);
}

/** One line for an operation, with its value cut to fit. */
export function operationLine({ op, path, value }: Omit<Operation, 'from'>): string {
  const text = op === 'remove' || value === undefined ? '' : JSON.stringify(value);
  const shortText = text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}...` : text;
  return `    ${op} ${path} ${shortText}`.trimEnd();
}

/** Changes by resource; created and deleted resources are listed without their operations. */
export function* changeLines(
  { ops, resources }: { ops: readonly Operation[]; resources: readonly Changed[] },
  terminal: Terminal,
): Generator<string> {
  for (const resource of resources) {
    const pointer = `/resources/${resource.id}`;
    const wholeOperation = ops.find(({ path }) => path === pointer)?.op;
    const action =
      resource.action ?? (wholeOperation === 'add' ? 'create' : wholeOperation === 'remove' ? 'delete' : 'update');
    yield changeLine(action, resource, terminal);
    if (action !== 'update') continue;
    for (const operation of ops) {
      if (operation.path.startsWith(`${pointer}/`)) {
        yield operationLine({ ...operation, path: operation.path.slice(pointer.length) });
      }
    }
  }
}

/** One line for each resource of an imported world that starts to run (D-215). */
export function* runLines(runs: AppliedSeed['runs']): Generator<string> {
  for (const { type, path, reasons } of runs ?? []) yield `runs from now on: ${type} ${path} (${reasons.join(', ')})`;
}
