import { X } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react';
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { Button, IconButton } from './button.tsx';
import { deedIn, firstFieldIn, isFieldOfOneLine } from './dialog-keys.ts';

export interface DialogProps {
  title: string;
  isOpen: boolean;
  onClose(): void;
  children: ReactNode;
  /** Buttons at the foot; the deed last. */
  actions?: ReactNode;
  width?: 'small' | 'medium' | 'large';
  /** A question that has to be answered: no closing by a click outside. */
  isAlert?: boolean;
}

const WIDTHS = { small: 'max-w-md', medium: 'max-w-2xl', large: 'max-w-5xl' };

/** A dialog: begins in its first empty field, or on its deed; Enter in a field does the deed; Esc closes; the focus is given back. */
export function Dialog({ title, isOpen, onClose, children, actions, width = 'small', isAlert = false }: DialogProps) {
  return (
    <ModalOverlay
      isOpen={isOpen}
      onOpenChange={(open) => !open && onClose()}
      isDismissable={!isAlert}
      className="fixed inset-0 z-50 flex items-start justify-center overflow-auto bg-[rgb(10_15_12/45%)] p-6 pt-[10vh]"
    >
      <Modal className={`w-full ${WIDTHS[width]} rounded-lg border border-line bg-overlay shadow-pop`}>
        <AriaDialog role={isAlert ? 'alertdialog' : 'dialog'} className="flex max-h-[80vh] flex-col outline-none">
          <div className="flex items-center justify-between border-b border-line py-2 pr-2 pl-4">
            <Heading slot="title" level={2}>
              {title}
            </Heading>
            <IconButton icon={X} label="Close" onPress={onClose} />
          </div>
          <Parts actions={actions}>{children}</Parts>
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

/** What is between title and end. */
function Parts({ children, actions }: Pick<DialogProps, 'children' | 'actions'>) {
  const body = useRef<HTMLDivElement>(null);
  const foot = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // A field may have taken the focus by itself.
    if (body.current?.contains(document.activeElement)) return;
    (firstFieldIn(body.current) ?? deedIn(foot.current))?.focus();
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.defaultPrevented || !isFieldOfOneLine(event.target)) return;
    // What is typed into a dialog upon this one comes by here, too.
    const deed = event.currentTarget.contains(event.target) ? deedIn(foot.current) : undefined;
    if (!deed) return;
    event.preventDefault();
    deed.click();
  };
  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a shortcut for the button below */}
      <div ref={body} onKeyDown={onKeyDown} className="min-h-0 flex-1 overflow-auto p-4">
        {children}
      </div>
      {actions && (
        <div ref={foot} className="flex justify-end gap-2 border-t border-line px-4 py-3">
          {actions}
        </div>
      )}
    </>
  );
}

export interface ConfirmProps {
  title: string;
  isOpen: boolean;
  onClose(): void;
  onConfirm(): void;
  /** The deed, e.g. `Delete 3 resources`. */
  deed: string;
  isDanger?: boolean;
  isPending?: boolean;
  /** There is nothing to do, or not yet. */
  isDisabled?: boolean;
  width?: DialogProps['width'];
  children: ReactNode;
}

/** Asks before something that cannot be taken back lightly; says what will happen, not "Are you sure?". */
export function Confirm({
  deed,
  isDanger,
  isPending = false,
  isDisabled = false,
  onConfirm,
  children,
  ...dialog
}: ConfirmProps) {
  const actions = (
    <>
      <Button onPress={dialog.onClose}>Cancel</Button>
      <Button look={isDanger ? 'destroy' : 'primary'} isPending={isPending} isDisabled={isDisabled} onPress={onConfirm}>
        {deed}
      </Button>
    </>
  );
  return (
    <Dialog {...dialog} isAlert actions={actions}>
      {children}
    </Dialog>
  );
}
