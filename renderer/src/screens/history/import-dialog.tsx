import { useMutation } from '@tanstack/react-query';
import { FileUp } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { FileTrigger } from 'react-aria-components';
import { toastCommit } from '../../api/undo.ts';
import { useChange } from '../../api/use-change.ts';
import { Bytes } from '../../components/amount.tsx';
import { counted } from '../../components/amounts.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { FailureNote } from '../../components/empty-state.tsx';
import { Switch } from '../../components/fields.tsx';
import { Progress } from '../../components/meter.tsx';
import { DeletedAccounts } from './deleted-accounts.tsx';
import { DifferenceList, totalText } from './difference-list.tsx';
import { type ImportKind, type ImportOutcome, importFile, kindOf } from './import-file.ts';

interface Chosen {
  file: File;
  kind: ImportKind;
  prune: boolean;
}

const NO_KIND = 'Choose a ZIP archive that Terrarium exported, or a seed file (.yaml, .yml or .json).';

/** Imports a file: it is uploaded and checked first, with a preview of the changes. */
export function ImportDialog({ onClose }: { onClose(): void }) {
  const [chosen, setChosen] = useState<Chosen | undefined>(undefined);
  const [complaint, setComplaint] = useState<string | undefined>(undefined);
  const stop = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const run = ({ file, kind, prune }: Chosen, isDry: boolean) => {
    stop.current?.abort();
    stop.current = new AbortController();
    return importFile(file, kind, { isDry, prune, signal: stop.current.signal });
  };
  const checking = useMutation({ mutationFn: (next: Chosen) => run(next, true) });
  const importing = useChange((next: Chosen) => run(next, false), {
    onDone: ({ commit, leads }, { file }) => {
      const imported = leads ? ` ${counted(leads, 'lead')} included.` : '';
      toastCommit(`${file.name} was imported.${imported}`, commit);
      onClose();
    },
  });
  const choose = (next: Chosen) => {
    setChosen(next);
    importing.reset();
    checking.mutate(next);
  };
  const take = (file: File | undefined) => {
    if (!file) return;
    const kind = kindOf(file.name);
    setComplaint(kind ? undefined : `${file.name} is not supported. ${NO_KIND}`);
    if (kind) choose({ file, kind, prune: false });
  };
  const failure = importing.error ?? checking.error;
  const isBusy = checking.isPending || importing.isPending;
  const outcome = checking.isPending ? undefined : checking.data;
  const isNothing = outcome !== undefined && countOf(outcome) === 0 && !outcome.leads;
  return (
    <Dialog
      title="Import a file"
      isAlert
      onClose={onClose}
      width="medium"
      action="Import"
      onAction={() => chosen && importing.mutate(chosen)}
      isReady={chosen !== undefined && outcome !== undefined && !isNothing && !isBusy}
      making={{ isPending: importing.isPending }}
    >
      <p className="text-muted">
        A ZIP archive replaces the current world. A seed file adds and updates the resources it contains. You see a
        preview before anything changes, and you can undo the import in the history.
      </p>
      <div className="mt-3 flex flex-wrap items-center gap-3">
        <FileTrigger acceptedFileTypes={['.zip', '.yaml', '.yml', '.json']} onSelect={(files) => take(files?.[0])}>
          <Button icon={FileUp} isDisabled={isBusy}>
            Choose a file
          </Button>
        </FileTrigger>
        {chosen && (
          <span>
            {chosen.file.name}, <Bytes bytes={chosen.file.size} />
          </span>
        )}
        {chosen && chosen.kind !== 'archive' && (
          <Switch isSelected={chosen.prune} isDisabled={isBusy} onChange={(prune) => choose({ ...chosen, prune })}>
            Delete resources that the file does not contain
          </Switch>
        )}
      </div>
      {isBusy && (
        <div className="mt-3">
          <p className="mb-1 text-muted">{importing.isPending ? 'Importing ...' : 'Uploading and checking ...'}</p>
          <Progress label="Import" share={undefined} />
        </div>
      )}
      {complaint && (
        <p role="alert" className="mt-3 text-error">
          {complaint}
        </p>
      )}
      {failure && !isBusy && (
        <div className="mt-3">
          <FailureNote error={failure} />
          <p className="mt-1.5 text-muted">
            Nothing was changed. Choose another file, or fix this one and choose it again.
          </p>
        </div>
      )}
      {outcome && <Outcome outcome={outcome} isNothing={isNothing} />}
    </Dialog>
  );
}

function Outcome({ outcome, isNothing }: { outcome: ImportOutcome; isNothing: boolean }) {
  const { leads, hidden, runs } = outcome;
  if (isNothing) return <p className="mt-3">The file is valid. No changes: the world is already in this state.</p>;
  return (
    <div className="mt-3">
      <p className="font-medium">
        The file is valid. {totalText(outcome, 'to-come')}
        {leads ? `, ${counted(leads, 'new lead')}` : ''}.
      </p>
      {hidden.length > 0 && (
        <p className="mt-1 text-warn">
          Passwords, values and credentials are never exported: {counted(hidden.length, 'resource')} will need{' '}
          {hidden.length === 1 ? 'its' : 'theirs'} again (
          {hidden
            .slice(0, 5)
            .map(({ path }) => path)
            .join(', ')}
          {hidden.length > 5 && ' ...'}).
        </p>
      )}
      <DeletedAccounts difference={outcome} direction="to-come" />
      {runs.length > 0 && <ExecutableCode runs={runs} />}
      <div className="-mx-4 mt-2 max-h-64 overflow-auto border-y border-line">
        <DifferenceList difference={outcome} direction="to-come" />
      </div>
    </div>
  );
}

/** Importing a file of someone else runs their code on this machine (D-215). */
function ExecutableCode({ runs }: Pick<ImportOutcome, 'runs'>) {
  return (
    <div className="mt-2">
      <p className="text-warn">Code of {counted(runs.length, 'resource')} will run on this machine:</p>
      <ul aria-label="Code that will run" className="mt-1 max-h-32 overflow-auto">
        {runs.map(({ type, path, reasons }) => (
          <li key={`${type} ${path}`} className="break-words">
            {path} <span className="text-muted">({reasons.join(', ')})</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function countOf({ total }: ImportOutcome): number {
  return total.create + total.update + total.delete;
}
