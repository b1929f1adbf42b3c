import { Bug, CircleStop } from 'lucide-react';
import { Time } from '../../parts/amount.tsx';
import { Button } from '../../parts/button.tsx';
import { Copy } from '../../parts/copy.tsx';
import { FailureNote } from '../../parts/empty-state.tsx';
import { KeyValue } from '../../parts/key-value.tsx';
import { State } from '../../parts/state.tsx';
import { debugAddress, launchSnippet } from './launch-snippet.ts';
import type { DebugState, useWorkbench } from './use-workbench.ts';

/** The lambda's process for a debugger: where it listens, and what an editor needs to know. */
export function DebugTab({ name, workbench }: { name: string; workbench: ReturnType<typeof useWorkbench> }) {
  const { state, debug } = workbench;
  const now = state.data?.debug;
  return (
    <div className="flex flex-col gap-3 p-4">
      <div className="flex items-center gap-3">
        {now ? (
          <>
            <DebugStateWord state={now} />
            <span className="text-muted">
              since <Time at={now.startedAt} />
            </span>
            <Button icon={CircleStop} isPending={debug.isPending} onPress={() => debug.mutate(false)}>
              Stop debugging
            </Button>
          </>
        ) : (
          <Button icon={Bug} look="primary" isPending={debug.isPending} onPress={() => debug.mutate(true)}>
            Start debugging
          </Button>
        )}
      </div>
      <FailureNote error={debug.error} />
      {now?.problem && (
        <p role="alert" className="rounded-md border border-error/40 bg-error-soft px-3 py-2">
          There is no process to attach to: <span className="mono break-words">{now.problem}</span>
        </p>
      )}
      {now?.url ? (
        <>
          <KeyValue
            nameWidth={150}
            rows={[
              { name: 'Attach to', value: debugAddress(now.url), copy: debugAddress(now.url), isMono: true },
              { name: 'Inspector', value: now.url, copy: now.url, isMono: true },
              { name: 'Breakpoints go into', value: now.file, copy: now.file, isMono: true },
            ]}
          />
          <div className="card">
            <p className="flex items-center justify-between border-b border-line px-3 py-1">
              <span className="mono text-muted">.vscode/launch.json</span>
              <Copy text={launchSnippet(name, now.url)} what="launch.json" />
            </p>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable with the keyboard */}
            <pre tabIndex={0} className="overflow-auto p-3">
              {launchSnippet(name, now.url)}
            </pre>
          </div>
          <p className="text-muted">
            Or open <code>chrome://inspect</code> in Chrome, or write <code>debugger;</code> into the code. Then run the
            lambda: calls from anywhere, the gateway included, stop there. Time-outs are suspended until debugging ends.
          </p>
        </>
      ) : (
        !now && (
          <p className="max-w-prose text-muted">
            The lambda then runs in one process that a debugger can attach to, on this machine only. Its time-out is
            suspended, its calls run one after the other, and the next ones wait.
          </p>
        )
      )}
    </div>
  );
}

function DebugStateWord({ state: { url, problem } }: { state: DebugState }) {
  if (url !== undefined) return <State is="ok">waiting for a debugger and for calls</State>;
  return problem === undefined ? <State is="running">starting</State> : <State is="error">no process</State>;
}
