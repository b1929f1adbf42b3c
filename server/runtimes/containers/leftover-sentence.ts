import { SHELL_COMMAND } from '../../model/shell-command.ts';
import type { Leftovers } from './engine.ts';

const MAX_NAMED = 5;
const KINDS = ['containers', 'services', 'networks', 'volumes'] as const satisfies (keyof Leftovers)[];

/** What stays behind in an engine, why, and how to remove it; undefined when nothing does. */
export function leftoverSentence(address: string, left: Leftovers, reason: string): string | undefined {
  const what = describeLeftovers(left);
  if (what === '') return undefined;
  return `left in the container engine at ${address}: ${what} (${reason}); to list and remove what worlds have left there, run \`${SHELL_COMMAND} clean\``;
}

/** `2 containers (a, b), 1 network (c)`; empty for none. */
export function describeLeftovers(left: Leftovers): string {
  return KINDS.filter((kind) => left[kind].length > 0)
    .map((kind) => {
      const names = left[kind];
      const more = names.length > MAX_NAMED ? `, and ${names.length - MAX_NAMED} more` : '';
      return `${names.length} ${names.length === 1 ? kind.slice(0, -1) : kind} (${names.slice(0, MAX_NAMED).join(', ')}${more})`;
    })
    .join(', ');
}
