import { RotateCcw } from 'lucide-react';
import { Dialog } from '../../parts/dialog.tsx';
import { DebugTab } from '../lambdas/debug-tab.tsx';
import { useWorkbench } from '../lambdas/use-workbench.ts';
import type { InvocationDetail } from './use-invocations.ts';
import { useReplay } from './use-replay.ts';

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
      deed={replay.isPending ? 'Replaying, or at a breakpoint' : 'Replay'}
      icon={RotateCcw}
      onDeed={() => replay.run()}
      isReady={isReady}
      making={{ isPending: replay.isPending }}
    >
      <p className="text-muted">
        Start debugging, attach an editor, then replay: the same event stops at the first line of the handler, and at
        every breakpoint. Without a debugger it just runs.
      </p>
      <DebugTab name={invocation.lambdaName} workbench={workbench} />
    </Dialog>
  );
}
