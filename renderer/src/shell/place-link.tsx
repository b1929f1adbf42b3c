import { useNavigate } from '@tanstack/react-router';
import type { MouseEvent, ReactNode } from 'react';
import { type Need, useMissing } from '../api/permissions.tsx';
import { hrefOf, pathOf, type Search, useSearch, type WindowLocation } from '../url.ts';

export interface PlaceLinkProps {
  to: WindowLocation;
  children: ReactNode;
  className?: string;
  /** True if the link leads to the page that is shown now. */
  isCurrent?: boolean;
  label?: string;
  /** Permission that the location requires. Without it, the text is no link and says why. */
  needs?: Need;
}

/** A link to a place in the window; the scope goes along unless the place has its own. */
export function PlaceLink({ to, children, className = 'link', isCurrent, label, needs }: PlaceLinkProps) {
  const missing = useMissing(needs);
  const [{ scope }] = useSearch();
  const navigate = useNavigate();
  const search: Search = { ...(scope !== undefined && { scope }), ...to.search };
  const onClick = (event: MouseEvent) => {
    if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    // Paths are made by pathOf; the router's own types know only those written by hand.
    void navigate({ to: pathOf(to) as never, search: search as never });
  };
  if (missing !== undefined) {
    return (
      <span title={missing} className={`${className} cursor-not-allowed opacity-50`}>
        {children}
        <span className="sr-only"> ({missing})</span>
      </span>
    );
  }
  return (
    <a
      href={hrefOf(to, scope)}
      className={className}
      aria-current={isCurrent ? 'page' : undefined}
      aria-label={label}
      onClick={onClick}
    >
      {children}
    </a>
  );
}
