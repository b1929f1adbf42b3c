import { SHELL_COMMAND } from '../../model/shell-command.ts';
import type { Leftovers } from './engine.ts';

const MAX_NAMED = 5;
const KINDS = ['containers', 'services', 'networks', 'volumes'] as const satisfies (keyof Leftovers)[];

/** Describes the leftovers in an engine, the reason, and the command that removes them; undefined if there are none. */
export function leftoverSentence(address: string, leftovers: Leftovers, reason: string): string | undefined {
  const description = describeLeftovers(leftovers);
  if (description === '') return undefined;
  return `left in the container engine at ${address}: ${description} (${reason}); to list and remove what worlds have left there, run \`${SHELL_COMMAND} clean\``;
}

/** Says which networks an engine keeps, and what removes them (see removeNetwork). */
export function lockedSentence(address: string, names: readonly string[]): string {
  return `the container engine at ${address} keeps ${amountOf('networks', names)}, although no container uses it: restart the engine, then run \`${SHELL_COMMAND} clean\``;
}

/** `2 containers (a, b), 1 network (c)`; empty for none. */
export function describeLeftovers({ lockedNetworks = [], ...leftovers }: Leftovers): string {
  const parts = KINDS.filter((kind) => leftovers[kind].length > 0).map((kind) => amountOf(kind, leftovers[kind]));
  if (lockedNetworks.length > 0) parts.push(`${amountOf('networks', lockedNetworks)} until the engine is restarted`);
  return parts.join(', ');
}

function amountOf(kind: (typeof KINDS)[number], names: readonly string[]): string {
  const more = names.length > MAX_NAMED ? `, and ${names.length - MAX_NAMED} more` : '';
  return `${names.length} ${names.length === 1 ? kind.slice(0, -1) : kind} (${names.slice(0, MAX_NAMED).join(', ')}${more})`;
}
