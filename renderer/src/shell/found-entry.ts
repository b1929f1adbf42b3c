import {
  ArrowUpRight,
  Box,
  FileInput,
  History,
  Inbox,
  type LucideIcon,
  ScrollText,
  Waypoints,
  Workflow,
} from 'lucide-react';
import type { HitKind, SearchHit, SearchState } from '../api/use-everything.ts';
import type { WindowLocation } from '../url.ts';

/** A search result, or a link to a list with more results, as an entry of the palette. */
export interface FoundEntry {
  id: string;
  text: string;
  detail?: string | undefined;
  excerpt?: string | undefined;
  at?: string | undefined;
  isFailed?: boolean | undefined;
  icon: LucideIcon;
  location: WindowLocation;
}

export interface FoundSection {
  name: string;
  entries: readonly FoundEntry[];
}

interface Kind {
  title: string;
  icon: LucideIcon;
  placeOf(hit: SearchHit): WindowLocation;
  /** The list that shows all matches, narrowed to the words. */
  listOf?(q: string): WindowLocation;
}

/** More are in the lists. */
const MAX_SHOWN = 5;
/** An invocation with so many kinds of matches is shown as one chain. */
const CHAIN_KINDS = 3;

const invocation = (hit: SearchHit, tab?: string): WindowLocation => ({
  screen: 'invocations',
  search: { sel: hit.executionId, tab },
});
const part = (list: string, { id, executionId = '' }: SearchHit): WindowLocation => ({
  screen: 'invocations',
  search: { list, sel: `${id}.${executionId}` },
});

const KINDS: Readonly<Record<HitKind, Kind>> = {
  resource: {
    title: 'Resources',
    icon: Box,
    placeOf: ({ id }) => ({ screen: 'resources', id }),
  },
  lead: {
    title: 'Leads',
    icon: Inbox,
    placeOf: ({ id }) => ({ screen: 'leads', search: { sel: id } }),
    listOf: (q) => ({ screen: 'leads', search: { q } }),
  },
  request: {
    title: 'Requests',
    icon: Waypoints,
    placeOf: ({ id }) => ({ screen: 'gateway', search: { plane: 'all', sel: id } }),
    listOf: (q) => ({ screen: 'gateway', search: { plane: 'all', q } }),
  },
  invocation: {
    title: 'Invocations',
    icon: Workflow,
    placeOf: (hit) => invocation(hit),
    listOf: (q) => ({ screen: 'invocations', search: { q } }),
  },
  call: {
    title: 'Outbound calls',
    icon: ArrowUpRight,
    placeOf: (hit) => part('outbound', hit),
    listOf: (q) => ({ screen: 'invocations', search: { list: 'outbound', q } }),
  },
  line: {
    title: 'Log lines',
    icon: ScrollText,
    placeOf: (hit) => part('lines', hit),
    listOf: (q) => ({ screen: 'invocations', search: { list: 'lines', q } }),
  },
  commit: {
    title: 'History',
    icon: History,
    placeOf: ({ id }) => ({ screen: 'history', search: { sel: id } }),
    listOf: (q) => ({ screen: 'history', search: { find: q } }),
  },
};
const ORDER: readonly HitKind[] = ['resource', 'lead', 'request', 'invocation', 'call', 'line', 'commit'];

/** Groups the results by kind; the newest form with all its steps comes first. */
export function sectionsOf({ q, hits, found }: Pick<SearchState, 'q' | 'hits' | 'found'>): FoundSection[] {
  const chain = chainOf(hits);
  const kinds = ORDER.flatMap((kind) => {
    const { title, icon, placeOf, listOf } = KINDS[kind];
    const count = found[kind] ?? 0;
    if (count === 0) return [];
    const entries = hits
      .filter((hit) => hit.kind === kind)
      .sort((a, other) => rankOf(a, q) - rankOf(other, q))
      .slice(0, MAX_SHOWN)
      .map((hit): FoundEntry => ({ ...entryOf(hit), icon, location: placeOf(hit) }));
    const all: FoundEntry[] =
      listOf && count > MAX_SHOWN
        ? [
            {
              id: `all ${kind}`,
              text: `Show all ${count.toLocaleString('en')} in ${title.toLowerCase()}`,
              icon,
              location: listOf(quotedWords(q)),
            },
          ]
        : [];
    return [{ name: `${title}: ${count.toLocaleString('en')}`, entries: [...entries, ...all] }];
  });
  return [...(chain.length > 0 ? [{ name: 'From the form to the lead', entries: chain }] : []), ...kinds];
}

/** Ranks exact matches first, then titles that begin with the typed text. */
function rankOf({ title, id }: SearchHit, q: string): number {
  const typed = q.toLowerCase();
  if (title.toLowerCase() === typed || id === typed) return 0;
  return title.toLowerCase().startsWith(typed) ? 1 : 2;
}

/** Form, request, invocation, CRM call and lead of the newest invocation of which several parts match. */
function chainOf(hits: readonly SearchHit[]): FoundEntry[] {
  const chains = Map.groupBy(
    hits.filter(({ executionId }) => executionId !== undefined),
    ({ executionId }) => executionId,
  );
  const chain = [...chains.values()].find((some) => new Set(some.map(({ kind }) => kind)).size >= CHAIN_KINDS);
  if (!chain) return [];
  const findHit = (hitKind: HitKind) => chain.find(({ kind }) => kind === hitKind);
  const [request, run, call, lead] = [findHit('request'), findHit('invocation'), findHit('call'), findHit('lead')];
  const step = (hit: SearchHit | undefined, text: string, icon: LucideIcon, location?: WindowLocation): FoundEntry[] =>
    hit
      ? [
          {
            ...entryOf(hit),
            id: `chain ${text}`,
            text,
            detail: hit.title,
            icon,
            location: location ?? KINDS[hit.kind].placeOf(hit),
          },
        ]
      : [];
  return [
    ...step(run, 'Form', FileInput, run && invocation(run, 'event')),
    ...step(request, 'Request', KINDS.request.icon),
    ...step(run, 'Invocation', KINDS.invocation.icon),
    ...step(call, 'CRM call', KINDS.call.icon),
    ...step(lead, 'Lead', KINDS.lead.icon),
  ];
}

function entryOf({ kind, id, title, detail, excerpt, at, isFailed }: SearchHit): Omit<FoundEntry, 'icon' | 'location'> {
  return { id: `${kind} ${id}`, text: title, detail, excerpt: excerpt === title ? undefined : excerpt, at, isFailed };
}

/** The words as a query of a list, in which a word with a colon needs quotation marks. */
function quotedWords(q: string): string {
  const terms = q.match(/"[^"]+"|[^\s"]+/g) ?? [];
  return terms.map((term) => (/^".*"$/.test(term) || !/[:-]/.test(term) ? term : `"${term}"`)).join(' ');
}
