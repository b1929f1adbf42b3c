import type { ReactNode } from 'react';
import { Tooltip, TooltipTrigger } from 'react-aria-components';

export interface HintProps {
  text: ReactNode;
  shortcut?: string | undefined;
  children: ReactNode;
}

/** A tooltip: shown on hover after a moment, and at once on keyboard focus. It only repeats or adds to what is visible. */
export function Hint({ text, shortcut, children }: HintProps) {
  return (
    <TooltipTrigger delay={500} closeDelay={80}>
      {children}
      <Tooltip
        offset={6}
        className="pointer-events-none max-w-xs rounded-md border border-line bg-overlay px-2 py-1 text-small text-text shadow-pop"
      >
        {text}
        {shortcut && <kbd className="ml-2 text-faint">{shortcut}</kbd>}
      </Tooltip>
    </TooltipTrigger>
  );
}
