import { useState } from 'react';
import { Dialog } from './dialog.tsx';
import { TextField } from './fields.tsx';

export interface NameDialogProps {
  title: string;
  /** Where it is kept, and who finds it there. */
  description: string;
  /** Names that there are: what has one of them is replaced. */
  taken: readonly string[];
  onName(name: string): void;
  onClose(): void;
}

const MAX_CHARS = 80;

/** Asks under which name something is kept. */
export function NameDialog({ title, description, taken, onName, onClose }: NameDialogProps) {
  const [name, setName] = useState('');
  const wanted = name.trim();
  return (
    <Dialog
      title={title}
      onClose={onClose}
      action={taken.includes(wanted) ? 'Replace' : 'Save'}
      onAction={() => onName(wanted)}
      isReady={wanted !== ''}
    >
      <TextField label="Name" value={name} onChange={setName} maxLength={MAX_CHARS} description={description} />
    </Dialog>
  );
}
