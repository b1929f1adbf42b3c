import { useState } from 'react';
import { Dialog } from './dialog.tsx';
import { TextField } from './fields.tsx';
import { State } from './state.tsx';

export interface NameDialogProps {
  title: string;
  /** Where it is kept, and who finds it there. */
  description: string;
  /** Names that there are: what has one of them is replaced. */
  taken: readonly string[];
  /** The name that is proposed. */
  first?: string;
  onName(name: string): void;
  onClose(): void;
}

const MAX_CHARS = 80;

/** Asks under which name something is kept. */
export function NameDialog({ title, description, taken, first = '', onName, onClose }: NameDialogProps) {
  const [name, setName] = useState(first);
  const wanted = name.trim();
  return (
    <Dialog
      title={title}
      onClose={onClose}
      action={taken.includes(wanted) ? 'Replace' : 'Save'}
      onAction={() => onName(wanted)}
      isReady={wanted !== ''}
    >
      {taken.includes(wanted) && (
        <p role="status" className="mb-3">
          <State is="warning">{wanted} already exists. Replace it, or choose another name.</State>
        </p>
      )}
      <TextField label="Name" value={name} onChange={setName} maxLength={MAX_CHARS} description={description} />
    </Dialog>
  );
}
