import { TIME_FIELDS, termsOf } from '../../components/list/query-terms.ts';
import { Segments } from '../../components/segments.tsx';
import { useSearch } from '../../url.ts';

const LISTS = [
  { id: 'calls', text: 'Invocations' },
  { id: 'outbound', text: 'Outbound calls' },
  { id: 'lines', text: 'Log lines' },
];
/** The query fields that all three lists support. */
const SHARED = [...TIME_FIELDS, 'lambda', 'id', 'trace'];

/** Selects one of the lists; the part of the query that all lists support is kept. */
export function ListChoice() {
  const [{ list = 'calls', q = '' }, change] = useSearch();
  const choose = (next: string) => {
    const sharedTerms = termsOf(q, SHARED).join(' ');
    const other = { list: next === 'calls' ? undefined : next, q: sharedTerms || undefined };
    change({ ...other, sel: undefined, sort: undefined, tab: undefined }, { isNewStep: true });
  };
  return <Segments label="What is listed" segments={LISTS} value={list} onChange={choose} />;
}
