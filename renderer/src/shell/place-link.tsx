import { useNavigate } from '@tanstack/react-router';
import type { MouseEvent, ReactNode } from 'react';
import { type Need, useMissing } from '../api/permissions.tsx';
import { hrefOf, type Place, pathOf, type Search, useSearch } from '../url.ts';

export interface PlaceLinkProps {
  to: Place;
  children: ReactNode;
  className?: string;
  /** Does the link say where one is? */
  isCurrent?: boolean;
  label?: string;
  /** What the place requires: without that it is no link, and says why. */
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
