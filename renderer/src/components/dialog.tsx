import { X } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react';
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { topmostLayer } from '../keys/use-keys.ts';
import { Button, type ButtonProps, IconButton } from './button.tsx';
import { FailureNote } from './empty-state.tsx';

export interface DialogProps extends Pick<ButtonProps, 'icon' | 'shortcut'> {
  title: string;
  onClose(): void;
  children: ReactNode;
  width?: 'small' | 'medium' | 'large';
  /** Requires a decision: a click outside does not close it. */
  isAlert?: boolean;
  /** The button that does what the dialog is for, e.g. `Delete 3 resources`; none where there is only something to see. */
  action?: string;
  onAction?(): void;
  /** Style of the action; `destroy` for actions that are hard to undo. Default: primary. */
  look?: ButtonProps['look'];
  /** Can the action be run? Default: yes. */
  isReady?: boolean;
  /** The change that the action makes: the button says while it is on its way, and why it was refused is at the end. */
  making?: { isPending: boolean; error?: unknown };
  /** The button that only closes. Default: Cancel, where there is an action; empty: none. */
  closing?: string;
  foot?: ReactNode;
}

const WIDTHS = { small: 'max-w-md', medium: 'max-w-2xl', large: 'max-w-5xl' };

/**
 * A dialog, open as long as it is rendered. The focus starts in its first empty field or on its action, and returns when it closes. Enter
 * in a field runs the action, Esc closes. If an action is hard to undo, the dialog says what will happen instead of "Are you sure?".
 */
export function Dialog({ title, onClose, width = 'small', isAlert = false, children, ...foot }: DialogProps) {
  const dialog = useRef<HTMLElement>(null);
  useEffect(() => {
    // In the frame after a nested dialog has closed, nothing has the focus, and keys go to the page.
    const onKeyDown = ({ key, target }: globalThis.KeyboardEvent) => {
      if (key === 'Escape' && target === document.body && dialog.current === topmostLayer()) onClose();
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [onClose]);
  return (
    <ModalOverlay
      isOpen
      onOpenChange={(open) => !open && onClose()}
      isDismissable={!isAlert}
      className="fixed inset-0 z-50 flex items-start justify-center overflow-auto bg-[rgb(10_15_12/45%)] p-6 pt-[10vh]"
    >
      <Modal className={`w-full ${WIDTHS[width]} rounded-lg border border-line bg-overlay shadow-pop`}>
        <AriaDialog
          ref={dialog}
          role={isAlert ? 'alertdialog' : 'dialog'}
          className="flex max-h-[80vh] flex-col outline-none"
        >
          <div className="flex items-center justify-between border-b border-line py-2 pr-2 pl-4">
            <Heading slot="title" level={2}>
              {title}
            </Heading>
            <IconButton icon={X} label="Close" onPress={onClose} />
          </div>
          <Parts onClose={onClose} {...foot}>
            {children}
          </Parts>
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

function Parts({
  children,
  onClose,
  action,
  onAction,
  look = 'primary',
  isReady = true,
  making,
  closing = action === undefined ? '' : 'Cancel',
  foot: footContent,
  ...button
}: Omit<DialogProps, 'title' | 'width' | 'isAlert'>) {
  const body = useRef<HTMLDivElement>(null);
  const foot = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // A field may already have taken the focus.
    if (body.current?.contains(document.activeElement)) return;
    (firstFieldIn(body.current) ?? actionIn(foot.current))?.focus();
  }, []);
  /** Enter came before the dialog had heard all that it takes, and nothing since. */
  const isSent = useRef(false);
  const forgetSent = () => {
    isSent.current = false;
  };
  useEffect(() => {
    if (!isReady) return;
    if (isSent.current) {
      isSent.current = false;
      actionIn(foot.current)?.click();
      return;
    }
    // An action that was not ready when the dialog opened could not take the focus then.
    if (document.activeElement?.contains(foot.current)) actionIn(foot.current)?.focus();
  }, [isReady]);
  const onKeyDown = ({ key, target, currentTarget, nativeEvent }: KeyboardEvent) => {
    forgetSent();
    // Keys typed in a nested dialog arrive here, too.
    if (key !== 'Enter' || !isFieldOfOneLine(target) || !currentTarget.contains(target)) return;
    // A number field commits its value with this key, and may stop the event: so the action runs afterwards.
    setTimeout(() => {
      if (nativeEvent.defaultPrevented) return;
      const button = actionIn(foot.current);
      if (button) button.click();
      else isSent.current = true;
    });
  };
  return (
    <>
      <div
        ref={body}
        onKeyDownCapture={onKeyDown}
        onInputCapture={forgetSent}
        onPointerDownCapture={forgetSent}
        className="min-h-0 flex-1 overflow-auto p-4"
      >
        {children}
        <FailureNote error={making?.error} className="mt-3" />
      </div>
      {(action !== undefined || closing !== '' || footContent) && (
        <div ref={foot} className="flex justify-end gap-2 border-t border-line px-4 py-3">
          {closing !== '' && <Button onPress={onClose}>{closing}</Button>}
          {footContent}
          {action !== undefined && (
            <Button
              {...button}
              look={look}
              isDisabled={!isReady}
              isPending={making?.isPending ?? false}
              onPress={() => onAction?.()}
            >
              {action}
            </Button>
          )}
        </div>
      )}
    </>
  );
}

/** A box with a list would open it as soon as one is in it. */
const FIELDS =
  'input:not([type=checkbox], [type=radio], [type=file], [type=hidden], [role=combobox], :disabled), textarea:not(:disabled)';

/** The field that one fills in first: the first empty one, else the first. */
function firstFieldIn(body: HTMLElement | null): HTMLElement | undefined {
  const fields = [...(body?.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>(FIELDS) ?? [])];
  return fields.find(({ value, readOnly }) => value === '' && !readOnly) ?? fields[0];
}

/** The button that does what the dialog is for. None where it only closes, or destroys something: that is pressed on purpose. */
function actionIn(foot: HTMLElement | null): HTMLButtonElement | undefined {
  return foot?.querySelector<HTMLButtonElement>('button[data-look=primary]:not(:disabled)') ?? undefined;
}

/** Returns true for an element in which Enter has no other meaning. In a nested form, Enter submits that form. */
function isFieldOfOneLine(target: EventTarget): target is HTMLInputElement {
  return (
    target instanceof HTMLInputElement && target.form === null && target.type !== 'file' && target.role !== 'combobox'
  );
}
