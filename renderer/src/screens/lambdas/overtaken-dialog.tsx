import { Button } from '../../parts/button.tsx';
import { DiffEditor } from '../../parts/code-editor.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import type { CodeDraftState } from './use-code-draft.ts';

/** What somebody else has saved beside what one has written: whose holds? Nothing is saved here. */
export function OvertakenDialog({ name, draft, onClose }: { name: string; draft: CodeDraftState; onClose(): void }) {
  const settle = (deed: () => void) => () => {
    deed();
    onClose();
  };
  return (
    <Dialog
      title={`The code of ${name} was changed twice`}
      onClose={onClose}
      width="large"
      closing="Decide later"
      foot={
        <Button look="danger" onPress={settle(draft.discard)}>
          Discard mine, show theirs
        </Button>
      }
      deed="Keep mine"
      onDeed={settle(() => draft.rebase())}
    >
      <p className="mb-3 text-muted">
        From what somebody else has saved since you began, to what you have written. If you keep yours it goes on from
        theirs: you see once more what it changes before you save it.
      </p>
      <div className="h-96 overflow-hidden rounded-md border border-line">
        <DiffEditor label="From theirs to mine" before={draft.stored} after={draft.source} language="javascript" />
      </div>
    </Dialog>
  );
}
