import { RotateCcw } from 'lucide-react';
import { useState } from 'react';
import { jsonIn } from '../../../../server/model/json.ts';
import { CodeEditor } from '../../components/code-editor.tsx';
import { Dialog } from '../../components/dialog.tsx';
import type { EditorLanguage } from '../../components/editor-props.ts';
import { indented } from '../../components/json-view.tsx';
import { DebugTab } from '../lambdas/debug-tab.tsx';
import { useWorkbench } from '../lambdas/use-workbench.ts';
import type { InvocationDetail } from './use-invocations.ts';
import { useReplay } from './use-replay.ts';

export function ReplayDialog({ invocation, onClose }: { invocation: InvocationDetail; onClose(): void }) {
  const { body } = invocation.event;
  const [text, setText] = useState(() => indented(body.text ?? ''));
  const replay = useReplay(invocation, { onDone: onClose });
  // The editor stays mounted while the user types.
  const [language] = useState<EditorLanguage>(() => (text === '' || jsonIn(text) !== undefined ? 'json' : 'text'));
  const run = () => replay.run(jsonIn(text) ?? text);
  return (
    <Dialog
      title={`Replay ${invocation.lambdaName} with another event`}
      onClose={onClose}
      width="medium"
      action="Replay"
      shortcut="Ctrl Enter"
      onAction={run}
      making={replay}
    >
      <div className="overflow-hidden rounded-md border border-line">
        <CodeEditor label="Event" value={text} onChange={setText} onSubmit={run} language={language} height="46vh" />
      </div>
      <p className="mt-2 text-muted">
        {body.text?.includes('<hidden>') ? 'Enter hidden values again: they are not sent to the page. ' : ''}
        The replay runs as you, with the headers and parameters of the original call but without its credentials.
      </p>
    </Dialog>
  );
}

/** Runs an invocation again with a debugger attached: it stops where the code says so, or where a breakpoint is. */
export function DebugDialog({ invocation, onClose }: { invocation: InvocationDetail; onClose(): void }) {
  const workbench = useWorkbench(invocation.lambdaId);
  const isReady = workbench.state.data?.debug?.url !== undefined;
  const replay = useReplay(invocation, { onDone: onClose, isDebugged: true });
  return (
    <Dialog
      title={`Debug ${invocation.lambdaName} with this event`}
      onClose={onClose}
      width="medium"
      closing="Close"
      action={replay.isPending ? 'Replaying, or at a breakpoint' : 'Replay'}
      icon={RotateCcw}
      onAction={() => replay.run()}
      isReady={isReady}
      making={{ isPending: replay.isPending }}
    >
      <p className="text-muted">
        Start debugging, attach an editor, then replay. The invocation pauses at the first line of the handler and at
        every breakpoint. Without a debugger it runs without pausing.
      </p>
      <DebugTab name={invocation.lambdaName} workbench={workbench} />
    </Dialog>
  );
}
