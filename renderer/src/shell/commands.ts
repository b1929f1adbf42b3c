import type { LucideIcon } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { useKeys } from '../keys/use-keys.ts';
import { ValueStore } from '../value-store.ts';

export interface Command {
  id: string;
  text: string;
  /** Other words that find it. */
  synonyms?: string;
  icon?: LucideIcon;
  /** Keys that also run it. */
  keys?: string | undefined;
  /** Heading in the palette. Default: "This screen". */
  group?: string;
  run(): void;
}

export const commands = new ValueStore<readonly Command[]>([]);

/** Offers commands in the palette and by their keys while the component is mounted. `run` may change with every render. */
export function useCommands(offeredCommands: readonly Command[]): void {
  useKeys(offeredCommands.flatMap(({ keys, text, ...command }) => (keys ? [{ ...command, keys, does: text }] : [])));
  const latest = useRef(offeredCommands);
  latest.current = offeredCommands;
  const ids = offeredCommands.map(({ id, text, keys }) => `${id} ${text} ${keys}`).join('\n');
  // biome-ignore lint/correctness/useExhaustiveDependencies: the commands are read through the ref; their ids say when they change
  useEffect(() => {
    const ownCommands = latest.current.map((command) => ({
      ...command,
      run: () => latest.current.find(({ id }) => id === command.id)?.run(),
    }));
    commands.set([...commands.value, ...ownCommands]);
    return () => commands.set(commands.value.filter((command) => !ownCommands.includes(command)));
  }, [ids]);
}
