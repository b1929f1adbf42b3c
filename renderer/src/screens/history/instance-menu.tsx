import { ArrowDownToLine, ArrowUpFromLine, FileText, RotateCcw } from 'lucide-react';
import { download } from '../../api/download.ts';
import { Menu } from '../../components/menu.tsx';
import { ImportDialog } from './import-dialog.tsx';
import { ResetDialog } from './reset-dialog.tsx';

export interface InstanceMenuProps {
  /** The dialog that the address names. */
  open: string | undefined;
  onOpen(name: string | undefined): void;
}

/** Actions on the whole world: export, import, reset. */
export function InstanceMenu({ open, onOpen }: InstanceMenuProps) {
  const close = () => onOpen(undefined);
  return (
    <>
      <Menu
        label="Export, import, reset"
        entries={[
          {
            id: 'zip',
            needs: 'root',
            text: 'Export everything (zip)',
            icon: ArrowDownToLine,
            onAction: () => void download('/inspect/archive', 'terrarium.zip'),
          },
          {
            id: 'seed',
            needs: 'root',
            text: 'Export the world as a seed (YAML)',
            icon: FileText,
            onAction: () => void download('/inspect/export', 'world.yaml'),
          },
          {
            id: 'import',
            needs: 'root',
            text: 'Import a file ...',
            icon: ArrowUpFromLine,
            startsGroup: true,
            onAction: () => onOpen('import'),
          },
          {
            id: 'reset',
            needs: 'root',
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
