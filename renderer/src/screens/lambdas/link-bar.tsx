import { FileCode2, Unlink } from 'lucide-react';
import { useState } from 'react';
import { Time } from '../../components/amount.tsx';
import { Button } from '../../components/button.tsx';
import { Copy } from '../../components/copy.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { FailureNote } from '../../components/empty-state.tsx';
import { TextField } from '../../components/fields.tsx';
import { State } from '../../components/state.tsx';
import type { FileLink, useWorkbench } from './use-workbench.ts';

/** Says which file the code follows, and how that goes. */
export function LinkBar({ link, workbench }: { link: FileLink; workbench: ReturnType<typeof useWorkbench> }) {
  const { unlink } = workbench;
  return (
    <div className="border-b border-line bg-raised px-4 py-1.5">
      <div className="flex items-center gap-2">
        <State is={link.problem === undefined ? 'ok' : 'error'}>
          {link.problem === undefined ? 'follows' : 'does not follow'}
        </State>
        <span className="mono min-w-0 truncate" title={link.path}>
          {link.path}
        </span>
        <Copy text={link.path} subject="path of the file" />
        <span className="ml-auto flex shrink-0 items-center gap-2 text-muted">
          {link.takenAt && (
            <span>
              taken <Time at={link.takenAt} />
            </span>
          )}
          <Button icon={Unlink} needs="root" isPending={unlink.isPending} onPress={() => unlink.mutate()}>
            Unlink
          </Button>
        </span>
      </div>
      {link.problem && (
        <p role="alert" className="break-words text-error">
          {link.problem}
        </p>
      )}
      <FailureNote error={unlink.error} />
    </div>
  );
}

/** Asks for the file that the code is to follow. */
export function LinkDialog({
  workbench,
  isDirty,
  onClose,
}: {
  workbench: ReturnType<typeof useWorkbench>;
  isDirty: boolean;
  onClose(): void;
}) {
  const { link } = workbench;
  const [path, setPath] = useState('');
  return (
    <Dialog
      title="Link the code to a file"
      onClose={onClose}
      width="medium"
      action="Link"
      icon={FileCode2}
      onAction={() => link.mutate(path.trim(), { onSuccess: onClose })}
      isReady={path.trim() !== ''}
      making={link}
    >
      <div className="flex flex-col gap-3">
        <TextField
          label="Absolute path on the machine of the platform"
          value={path}
          onChange={setPath}
          isMono
          placeholder="/home/me/project/web-form.js"
        />
        <p className="text-muted">
          The lambda runs the code of the file, and is updated each time you save the file. Each update is a commit,
          which you can undo in the history. The code stays one inline file: it can load Node.js modules and modules
          from the lambdas.modules folder or NODE_PATH.
        </p>
        {isDirty && (
          <p role="alert" className="text-warn">
            Your unsaved edits are set aside while the code follows a file. They return when you unlink it.
          </p>
        )}
      </div>
    </Dialog>
  );
}
