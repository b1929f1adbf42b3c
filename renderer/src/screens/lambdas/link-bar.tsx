import { FileCode2, Unlink } from 'lucide-react';
import { useState } from 'react';
import { Time } from '../../parts/amount.tsx';
import { Button } from '../../parts/button.tsx';
import { Copy } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { FailureNote } from '../../parts/empty-state.tsx';
import { TextField } from '../../parts/fields.tsx';
import { State } from '../../parts/state.tsx';
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
        <Copy text={link.path} what="path of the file" />
        <span className="ml-auto flex shrink-0 items-center gap-2 text-muted">
          {link.takenAt && (
            <span>
              taken <Time at={link.takenAt} />
            </span>
          )}
          <Button icon={Unlink} isPending={unlink.isPending} onPress={() => unlink.mutate()}>
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
  /** Is there code that was not saved? */
  isDirty: boolean;
  onClose(): void;
}) {
  const { link } = workbench;
  const [path, setPath] = useState('');
  return (
    <Dialog
      title="Let the code follow a file"
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
          The lambda is given what is in the file now, and again whenever you save it: each time is a commit that you
          find, and can undo, in the history. It stays one file of inline code: what it requires has to be a module of
          Node.
        </p>
        {isDirty && (
          <p role="alert" className="text-warn">
            What you have written here and not saved is set aside while the code follows a file; it is back when you
            unlink it.
          </p>
        )}
      </div>
    </Dialog>
  );
}
