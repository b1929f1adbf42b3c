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
import type { HitKind, SearchHit, SearchState } from '../api/search.ts';
import type { Place } from '../url.ts';

/** What was found, or a list with more of it, as an entry of the palette. */
export interface FoundEntry {
  id: string;
  text: string;
  detail?: string | undefined;
  excerpt?: string | undefined;
  at?: string | undefined;
  isFailed?: boolean | undefined;
  icon: LucideIcon;
  place: Place;
}

export interface FoundSection {
  name: string;
  entries: readonly FoundEntry[];
}

interface Kind {
  title: string;
  icon: LucideIcon;
  placeOf(hit: SearchHit): Place;
  /** The list that shows all matches, narrowed to the words. */
  listOf?(q: string): Place;
}

/** More are in the lists. */
const MAX_SHOWN = 5;
/** An invocation with so many kinds of matches is shown as one chain. */
const CHAIN_KINDS = 3;

const invocation = (hit: SearchHit, tab?: string): Place => ({
  screen: 'invocations',
  search: { sel: hit.executionId, tab },
});
const part = (list: string, { id, executionId = '' }: SearchHit): Place => ({
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

/** What was found, by kind; first the newest form on its whole way. */
export function sectionsOf({ q, hits, found }: Pick<SearchState, 'q' | 'hits' | 'found'>): FoundSection[] {
  const chain = chainOf(hits);
  const kinds = ORDER.flatMap((kind) => {
    const { title, icon, placeOf, listOf } = KINDS[kind];
    const count = found[kind] ?? 0;
    if (count === 0) return [];
    const entries = hits
      .filter((hit) => hit.kind === kind)
      .sort((one, other) => rankOf(one, q) - rankOf(other, q))
      .slice(0, MAX_SHOWN)
      .map((hit): FoundEntry => ({ ...entryOf(hit), icon, place: placeOf(hit) }));
    const all: FoundEntry[] =
      listOf && count > MAX_SHOWN
        ? [
            {
              id: `all ${kind}`,
              text: `Show all ${count.toLocaleString('en')} in ${title.toLowerCase()}`,
              icon,
              place: listOf(quotedWords(q)),
            },
          ]
        : [];
    return [{ name: `${title}: ${count.toLocaleString('en')}`, entries: [...entries, ...all] }];
  });
  return [...(chain.length > 0 ? [{ name: 'From the form to the lead', entries: chain }] : []), ...kinds];
}

/** What has the very name that was typed comes first. */
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
  const of = (wanted: HitKind) => chain.find(({ kind }) => kind === wanted);
  const [request, run, call, lead] = [of('request'), of('invocation'), of('call'), of('lead')];
  const step = (hit: SearchHit | undefined, text: string, icon: LucideIcon, place?: Place): FoundEntry[] =>
    hit
      ? [
          {
            ...entryOf(hit),
            id: `chain ${text}`,
            text,
            detail: hit.title,
            icon,
            place: place ?? KINDS[hit.kind].placeOf(hit),
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

function entryOf({ kind, id, title, detail, excerpt, at, isFailed }: SearchHit): Omit<FoundEntry, 'icon' | 'place'> {
  return { id: `${kind} ${id}`, text: title, detail, excerpt: excerpt === title ? undefined : excerpt, at, isFailed };
}

/** The words as a query of a list, in which a word with a colon needs quotation marks. */
function quotedWords(q: string): string {
  const words = q.match(/"[^"]+"|[^\s"]+/g) ?? [];
  return words.map((word) => (/^".*"$/.test(word) || !/[:-]/.test(word) ? word : `"${word}"`)).join(' ');
}
