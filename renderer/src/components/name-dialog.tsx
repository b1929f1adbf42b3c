import { useState } from 'react';
import { Dialog } from './dialog.tsx';
import { TextField } from './fields.tsx';
import { State } from './state.tsx';

export interface NameDialogProps {
  title: string;
  /** A text that says where it is stored and who finds it there. */
  description: string;
  /** Names that there are: what has one of them is replaced. */
  existingNames: readonly string[];
  /** The name that is proposed. */
  first?: string;
  onName(name: string): void;
  onClose(): void;
}

const MAX_CHARS = 80;

export function NameDialog({ title, description, existingNames, first = '', onName, onClose }: NameDialogProps) {
  const [name, setName] = useState(first);
  const trimmedName = name.trim();
  return (
    <Dialog
      title={title}
      onClose={onClose}
      action={existingNames.includes(trimmedName) ? 'Replace' : 'Save'}
      onAction={() => onName(trimmedName)}
      isReady={trimmedName !== ''}
    >
      {existingNames.includes(trimmedName) && (
        <p role="status" className="mb-3">
          <State is="warning">{trimmedName} already exists. Replace it, or choose another name.</State>
        </p>
      )}
      <TextField label="Name" value={name} onChange={setName} maxLength={MAX_CHARS} description={description} />
    </Dialog>
  );
}
