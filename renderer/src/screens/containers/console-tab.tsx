import { useMutation } from '@tanstack/react-query';
import { CornerDownLeft, Trash2 } from 'lucide-react';
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react';
import type { ExecOutcome } from '../../../../server/api/routes/containers.ts';
import { ask } from '../../api/client.ts';
import { sessionState } from '../../api/session-state.ts';
import type { PlatformRecord } from '../../api/use-world.ts';
import { Duration } from '../../components/amount.tsx';
import { Button, IconButton } from '../../components/button.tsx';
import { Badge, State } from '../../components/state.tsx';
import { announce } from '../../components/toasts.tsx';
import { useValue, ValueStore } from '../../value-store.ts';
import { runningOf } from './container-status.ts';
import { InstanceSelect } from './instance-select.tsx';

/** A command that was run, and what came of it: an outcome, or why there is none. */
interface ConsoleEntry {
  startedAtMs: number;
  command: string;
  durationMs: number;
  outcome?: ExecOutcome;
  failure?: string;
}

const MAX_ENTRIES = 100;
/** Commands run in each container since the page was opened; shown again when the user returns to the console. */
const consoles = new Map<string, ValueStore<readonly ConsoleEntry[]>>();
sessionState.whenUserLeaves(() => consoles.clear());

function consoleOf(containerId: string): ValueStore<readonly ConsoleEntry[]> {
  const store = consoles.get(containerId) ?? new ValueStore<readonly ConsoleEntry[]>([]);
  consoles.set(containerId, store);
  return store;
}

/** A console in an instance: one command at a time, through its shell; arrows lead through what was run before. */
export function ConsoleTab({ record }: { record: PlatformRecord }) {
  const store = consoleOf(record.id);
  const entries = useValue(store);
  const [line, setLine] = useState('');
  const [recalled, setRecalled] = useState(0);
  const [instance, setInstance] = useState<string>();
  const end = useRef<HTMLDivElement>(null);
  const run = useMutation({
    mutationFn: (command: string) => exec(record.id, command, instance),
    onSuccess: (entry) => {
      store.set([...store.value, entry].slice(-MAX_ENTRIES));
      announce(entry.outcome ? `Ended with exit code ${entry.outcome.exitCode}` : 'The command could not be run');
    },
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the end is somewhere else after each command
  useEffect(() => {
    end.current?.scrollIntoView({ block: 'end' });
  }, [entries, run.isPending]);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    const command = line.trim();
    if (command === '' || run.isPending) return;
    setLine('');
    setRecalled(0);
    run.mutate(command);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowUp' ? 1 : event.key === 'ArrowDown' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(entries.length, recalled + step));
    setRecalled(next);
    setLine(next === 0 ? '' : (entries.at(-next)?.command ?? ''));
  };

  if (runningOf(record) === 0) {
    return <p className="px-4 py-3 text-muted">Commands need a running instance, and none is running.</p>;
  }
  return (
    <div className="flex h-full min-h-0 flex-col">
      <section
        aria-label="Output"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable with the keyboard
        tabIndex={0}
        className="min-h-0 flex-1 overflow-auto px-4 py-2 outline-offset-[-2px]"
      >
        {entries.length === 0 && (
          <p className="text-muted">
            Runs in the instance through <code>/bin/sh</code>, for up to 30 seconds, without a terminal.
          </p>
        )}
        {entries.map((entry) => (
          <Entry key={entry.startedAtMs} entry={entry} />
        ))}
        {run.isPending && (
          <p className="py-1">
            <State is="running">running</State> <code>{run.variables}</code>
          </p>
        )}
        <div ref={end} />
      </section>
      <form onSubmit={submit} className="flex shrink-0 items-center gap-2 border-t border-line px-3 py-2">
        <InstanceSelect record={record} value={instance} onChange={setInstance} />
        <div className="field-frame flex min-w-0 flex-1 items-center">
          <span aria-hidden className="mono pl-2 text-faint">
            $
          </span>
          <input
            type="text"
            aria-label="Command"
            placeholder="ls -l /"
            value={line}
            spellCheck={false}
            autoComplete="off"
            autoCapitalize="off"
            className="mono min-w-0 flex-1 bg-transparent px-2 py-1"
            onChange={(event) => setLine(event.target.value)}
            onKeyDown={onKeyDown}
          />
        </div>
        <Button icon={CornerDownLeft} look="primary" type="submit" isPending={run.isPending}>
          Run
        </Button>
        <IconButton
          icon={Trash2}
          label="Clear the console"
          isDisabled={entries.length === 0}
          onPress={() => store.set([])}
        />
      </form>
    </div>
  );
}

/** Runs a line in a shell of an instance; a refusal is an outcome, too. */
async function exec(id: string, command: string, instance: string | undefined): Promise<ConsoleEntry> {
  const startedAtMs = performance.now();
  const body = { command: ['/bin/sh', '-c', command], ...(instance !== undefined && { instance }) };
  const answer = await ask('POST', `/inspect/containers/${id}/exec`, { body });
  const durationMs = performance.now() - startedAtMs;
  const result = answer.ok ? { outcome: answer.value } : { failure: answer.failure.message };
  return { startedAtMs, command, durationMs, ...result };
}

function Entry({ entry: { command, durationMs, outcome, failure } }: { entry: ConsoleEntry }) {
  return (
    <article aria-label={command} className="border-b border-line/55 py-1.5 last-of-type:border-0">
      <p className="flex items-center gap-2">
        <code className="min-w-0 flex-1 break-all">
          <span aria-hidden className="text-faint">
            ${' '}
          </span>
          {command}
        </code>
        {outcome && <Badge tone={outcome.exitCode === 0 ? 'ok' : 'error'}>exit {outcome.exitCode}</Badge>}
        <span className="text-small text-faint">
          <Duration ms={durationMs} />
        </span>
      </p>
      {outcome && outcome.stdout !== '' && <pre className="break-words whitespace-pre-wrap">{outcome.stdout}</pre>}
      {outcome && outcome.stderr !== '' && (
        <pre className="border-l-2 border-error bg-error-soft pl-2 break-words whitespace-pre-wrap">
          <span className="sr-only">Standard error: </span>
          {outcome.stderr}
        </pre>
      )}
      {outcome?.isCut && <p className="text-warn">The output was larger than 1 MB; only the beginning is shown.</p>}
      {failure && (
        <p role="alert" className="break-words text-error">
          {failure}
        </p>
      )}
    </article>
  );
}
