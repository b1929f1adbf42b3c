import type { ShownDifference } from '../contract/history.ts';
import { styled, type Terminal } from './terminal.ts';

type Operation = ShownDifference['ops'][number];
/** A resource that changed; what was done to it is told of a difference, and is in a commit's operations. */
type Changed = Omit<ShownDifference['resources'][number], 'action'> & Partial<ShownDifference['resources'][number]>;

/** The longest value of an operation that is shown whole. */
const SHOWN_CHARACTERS = 120;

const SIGNS = { create: '+', update: '~', delete: '-' };

/** The line that tells what is done to a resource. */
export function changeLine(
  action: keyof typeof SIGNS,
  { type, path }: { type: string; path: string },
  terminal: Terminal,
): string {
  return styled(terminal, 'bold', `${SIGNS[action]} ${type} ${path}`);
}

/** An operation as a line, with as much of its value as a line holds. */
export function operationLine({ op, path, value }: Omit<Operation, 'from'>): string {
  const text = op === 'remove' || value === undefined ? '' : JSON.stringify(value);
  const shown = text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}...` : text;
  return `    ${op} ${path} ${shown}`.trimEnd();
}

/** What was done to the world, resource by resource; of those that were made or deleted their name says enough. */
export function* changeLines(
  { ops, resources }: { ops: readonly Operation[]; resources: readonly Changed[] },
  terminal: Terminal,
): Generator<string> {
  for (const resource of resources) {
    const pointer = `/resources/${resource.id}`;
    const whole = ops.find(({ path }) => path === pointer)?.op;
    const action = resource.action ?? (whole === 'add' ? 'create' : whole === 'remove' ? 'delete' : 'update');
    yield changeLine(action, resource, terminal);
    if (action !== 'update') continue;
    for (const operation of ops) {
      if (operation.path.startsWith(`${pointer}/`)) {
        yield operationLine({ ...operation, path: operation.path.slice(pointer.length) });
      }
    }
  }
}
