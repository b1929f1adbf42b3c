import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components';
import { type Need, useMissing } from '../api/permissions.tsx';
import { Hint } from './hint.tsx';

export interface ButtonProps extends Omit<AriaButtonProps, 'children' | 'className' | 'style'> {
  children: ReactNode;
  icon?: LucideIcon;
  /** One primary button a view. `quiet` has no frame; `danger` leads to something being destroyed, `destroy` does it. Default: plain. */
  look?: 'plain' | 'primary' | 'quiet' | 'danger' | 'destroy';
  /** The key that does the same, shown at the end. */
  shortcut?: string;
  /** The permission that the button requires. Without it, the button cannot be pressed and gives the reason. */
  needs?: Need | undefined;
  className?: string;
}

const LOOKS = {
  plain: 'border-line-strong bg-panel text-text data-[hovered]:bg-raised data-[pressed]:bg-line',
  primary: 'border-text bg-text text-on-accent font-semibold data-[hovered]:opacity-85 data-[pressed]:opacity-75',
  quiet: 'border-transparent bg-transparent text-muted data-[hovered]:bg-raised data-[hovered]:text-text',
  danger: 'border-line-strong bg-panel text-error data-[hovered]:border-error data-[hovered]:bg-error-soft',
  destroy: 'border-error bg-error text-on-accent font-semibold data-[hovered]:opacity-85',
};

/** A button; at least 28 px high. While `isPending` it says so and cannot be pressed again. */
export function Button({
  children,
  icon: Icon,
  look = 'plain',
  shortcut,
  needs,
  className = '',
  ...rest
}: ButtonProps) {
  const missing = useMissing(needs);
  const button = (
    <AriaButton
      {...rest}
      {...(missing !== undefined && { isDisabled: true })}
      data-look={look}
      className={`inline-flex min-h-7 max-w-full shrink-0 items-center gap-1.5 rounded-md border px-2.5 text-left whitespace-nowrap max-sm:whitespace-normal transition-colors data-[disabled]:opacity-50 data-[pending]:opacity-70 ${LOOKS[look]} ${className}`}
    >
      {Icon && <Icon aria-hidden size={14} strokeWidth={1.8} className="-ml-0.5 shrink-0" />}
      {children}
      {shortcut && <Key look={look === 'primary' ? 'on-accent' : 'plain'}>{shortcut}</Key>}
    </AriaButton>
  );
  return <Missing text={missing}>{button}</Missing>;
}

/** Around a button that cannot be pressed: why. */
function Missing({ text, children }: { text: string | undefined; children: ReactNode }) {
  if (text === undefined) return children;
  return (
    <span title={text} className="inline-flex max-w-full shrink-0 cursor-not-allowed">
      {children}
      <span className="sr-only">{text}</span>
    </span>
  );
}

export interface IconButtonProps extends Omit<AriaButtonProps, 'children' | 'className' | 'style'> {
  icon: LucideIcon;
  /** The action of the button; read aloud and shown as its tooltip. */
  label: string;
  shortcut?: string;
  needs?: Need | undefined;
  className?: string;
}

/** A square button with an icon only; 28 px. */
export function IconButton({ icon: Icon, label, shortcut, needs, className = '', ...rest }: IconButtonProps) {
  const missing = useMissing(needs);
  const button = (
    <Hint text={label} shortcut={shortcut}>
      <AriaButton
        {...rest}
        {...(missing !== undefined && { isDisabled: true })}
        aria-label={label}
        className={`inline-flex size-7 shrink-0 items-center justify-center rounded-md text-muted transition-colors data-[disabled]:opacity-40 data-[hovered]:bg-raised data-[hovered]:text-text ${className}`}
      >
        <Icon aria-hidden size={15} strokeWidth={1.8} />
      </AriaButton>
    </Hint>
  );
  return <Missing text={missing}>{button}</Missing>;
}

export function Key({ children, look = 'plain' }: { children: ReactNode; look?: 'plain' | 'on-accent' }) {
  const colours = look === 'plain' ? 'border-line-strong bg-raised text-muted' : 'border-current/40';
  return (
    <kbd aria-hidden className={`rounded border px-1 text-small leading-4 ${colours}`}>
      {children}
    </kbd>
  );
}
