import { CircleCheck, CircleDashed, CircleDot, CircleX, type LucideIcon, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';

/** The condition of something. Each has a color, a shape and a word, never the color alone. */
export type Condition = 'ok' | 'warning' | 'error' | 'running' | 'idle';

const LOOKS: Record<Condition, { icon: LucideIcon; colour: string }> = {
  ok: { icon: CircleCheck, colour: 'text-ok' },
  warning: { icon: TriangleAlert, colour: 'text-warn' },
  error: { icon: CircleX, colour: 'text-error' },
  running: { icon: CircleDot, colour: 'text-running' },
  idle: { icon: CircleDashed, colour: 'text-idle' },
};

export interface StateProps {
  is: Condition;
  /** The word; default is the condition itself. */
  children?: ReactNode;
  /** Only the icon is seen; the word is for those who listen. */
  isIconOnly?: boolean;
}

export function State({ is, children, isIconOnly }: StateProps) {
  const { icon: Icon, colour } = LOOKS[is];
  return (
    <span className={`inline-flex items-center gap-1.5 align-middle whitespace-nowrap ${colour}`}>
      <Icon aria-hidden size={13} strokeWidth={2.2} className={`shrink-0 ${is === 'running' ? 'pulse' : ''}`} />
      <span className={isIconOnly ? 'sr-only' : is === 'ok' ? 'text-text' : ''}>{children ?? is}</span>
    </span>
  );
}

export interface BadgeProps {
  children: ReactNode;
  tone?: 'plain' | 'accent' | Condition;
}

const TONES: Record<NonNullable<BadgeProps['tone']>, string> = {
  plain: 'border-line-strong text-muted',
  accent: 'border-accent/50 text-accent bg-accent-soft',
  ok: 'border-ok/50 text-ok',
  warning: 'border-warn/50 text-warn',
  error: 'border-error/50 text-error',
  running: 'border-running/50 text-running',
  idle: 'border-line-strong text-idle',
};

/** A small word in a frame: a type, a method, a revision. */
export function Badge({ children, tone = 'plain' }: BadgeProps) {
  return (
    <span
      className={`inline-block max-w-full shrink-0 truncate rounded border px-1.5 align-middle text-small leading-[17px] ${TONES[tone]}`}
    >
      {children}
    </span>
  );
}
