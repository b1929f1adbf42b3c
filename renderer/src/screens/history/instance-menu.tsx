import { ArrowDownToLine, ArrowUpFromLine, FileText, RotateCcw } from 'lucide-react';
import { Menu } from '../../parts/menu.tsx';
import { ImportDialog } from './import-dialog.tsx';
import { ResetDialog } from './reset-dialog.tsx';

export interface InstanceMenuProps {
  /** The dialog that the address names. */
  open: string | undefined;
  onOpen(name: string | undefined): void;
}

/** What is done with the whole world: taken along, brought in, begun anew. */
export function InstanceMenu({ open, onOpen }: InstanceMenuProps) {
  const close = () => onOpen(undefined);
  return (
    <>
      <Menu
        label="Export, import, reset"
        entries={[
          {
            id: 'zip',
            text: 'Export everything (zip)',
            icon: ArrowDownToLine,
            onAction: () => download('/inspect/archive', 'terrarium.zip'),
          },
          {
            id: 'seed',
            text: 'Export the world as a seed (YAML)',
            icon: FileText,
            onAction: () => download('/inspect/export', 'world.yaml'),
          },
          {
            id: 'import',
            text: 'Import a file ...',
            icon: ArrowUpFromLine,
            startsGroup: true,
            onAction: () => onOpen('import'),
          },
          {
            id: 'reset',
            text: 'Reset to a seed ...',
            icon: RotateCcw,
            isDanger: true,
            onAction: () => onOpen('reset'),
          },
        ]}
      />
      {open === 'import' && <ImportDialog onClose={close} />}
      {open === 'reset' && <ResetDialog onClose={close} />}
    </>
  );
}

/** Lets the browser save an answer of the server; the session's cookie goes along. */
function download(path: string, name: string): void {
  const link = document.createElement('a');
  link.href = path;
  link.download = name;
  link.click();
}
