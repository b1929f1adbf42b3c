import { Bug, CircleStop } from 'lucide-react';
import { Time } from '../../components/amount.tsx';
import { Button } from '../../components/button.tsx';
import { Copy } from '../../components/copy.tsx';
import { FailureNote } from '../../components/empty-state.tsx';
import { KeyValue } from '../../components/key-value.tsx';
import { State } from '../../components/state.tsx';
import { chromeAddress, launchSnippet } from './launch-snippet.ts';
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
            <Button icon={CircleStop} needs="root" isPending={debug.isPending} onPress={() => debug.mutate(false)}>
              Stop debugging
            </Button>
          </>
        ) : (
          <Button icon={Bug} look="primary" needs="root" isPending={debug.isPending} onPress={() => debug.mutate(true)}>
            Start debugging
          </Button>
        )}
      </div>
      <FailureNote error={debug.error} />
      {now?.problem && (
        <p role="alert" className="rounded-md border border-error/40 bg-error-soft px-3 py-2">
          No process to attach to: <span className="mono break-words">{now.problem}</span>
        </p>
      )}
      {now?.url ? (
        <>
          <KeyValue
            nameWidth={150}
            rows={[
              { name: 'Attach to', value: now.url, copy: now.url, isMono: true },
              { name: 'In Chrome, open', value: chromeAddress(now.url), copy: chromeAddress(now.url), isMono: true },
              { name: 'Breakpoints go into', value: now.file, copy: now.file, isMono: true },
            ]}
          />
          <div className="card">
            <p className="flex items-center justify-between border-b border-line px-3 py-1">
              <span className="mono text-muted">.vscode/launch.json</span>
              <Copy text={launchSnippet(name, now.url)} subject="launch.json" />
            </p>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable with the keyboard */}
            <pre tabIndex={0} className="overflow-auto p-3">
              {launchSnippet(name, now.url)}
            </pre>
          </div>
          <p className="text-muted">
            Set a breakpoint, or write <code>debugger;</code> into the code. Then run the lambda: all calls pause there,
            including calls from the gateway. Timeouts are suspended until you stop debugging. The address is secret. It
            stays the same when the code changes.
          </p>
        </>
      ) : (
        !now && (
          <p className="max-w-prose text-muted">
            While you debug, the lambda runs in one process that a debugger on this machine can attach to. The timeout
            is suspended, and calls run one after the other.
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
