import { useEffect, useMemo, useRef } from 'react';
import contract from '../../../../docs/contract.md?raw';
import { hasAllWords } from '../../parts/all-words.ts';
import { Copy } from '../../parts/copy.tsx';
import { EmptyState, NoMatch } from '../../parts/empty-state.tsx';
import { FindField } from '../../parts/find-field.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { hrefOf, useSearch } from '../../url.ts';
import { asDecisionId, type Choice, type ContractDecision, choiceOf, contractSections } from './decisions.ts';
import { Line, Prose } from './prose.tsx';

const files = import.meta.glob<string>('../../../../docs/decisions/*.md', {
  query: '?raw',
  import: 'default',
  eager: true,
});
const sections = contractSections(contract);
const choices = Object.entries(files)
  .filter(([path]) => !path.endsWith('/README.md'))
  .map(([path, text]) => choiceOf(path, text));
const count = sections.reduce((sum, { decisions }) => sum + decisions.length, 0);

/** What was decided where the platform's specification is silent, and how this platform was made; as it came with this version. */
export default function DecisionsTab() {
  const [{ q = '', id }, change] = useSearch();
  const wanted = id === undefined ? undefined : asDecisionId(id);
  const found = useMemo(
    () =>
      sections
        .map(({ title, decisions }) => ({
          title,
          decisions: decisions.filter((one) => hasAllWords(q, one.id, one.text, title)),
        }))
        .filter(({ decisions }) => decisions.length > 0),
    [q],
  );
  const made = useMemo(() => choices.filter(({ id: name, title, text }) => hasAllWords(q, name, title, text)), [q]);
  const foundCount = found.reduce((sum, { decisions }) => sum + decisions.length, 0);
  const isKnown =
    wanted === undefined ||
    choices.some((choice) => choice.id === wanted) ||
    sections.some(({ decisions }) => decisions.some((one) => one.id === wanted));
  return (
    <div className="flex max-w-5xl flex-col gap-5 px-5 pb-5">
      <div className="sticky top-0 z-10 flex flex-wrap items-center gap-3 bg-bg py-3">
        <FindField
          label="Search the decisions"
          placeholder="Id or words: D-155, rate limit"
          also={{ id: undefined }}
          className="w-80"
        />
        <p className="text-muted" role="status">
          {foundCount} of {count} decisions, {made.length} of {choices.length} choices
        </p>
      </div>
      {!isKnown && (
        <EmptyState
          title={`There is no decision ${wanted}`}
          text="This version of Terrarium does not know it. Those that it knows are below."
        />
      )}
      {found.length + made.length === 0 && <NoMatch what="decisions" onClear={() => change({ q: undefined })} />}
      {found.length > 0 && (
        <section aria-label="Where the specification is silent" className="flex flex-col gap-4">
          <div>
            <h2>Where the specification is silent</h2>
            <p className="text-muted">What the platform does then. Code, tests and messages cite these ids.</p>
          </div>
          {found.map(({ title, decisions }) => (
            <section key={title} aria-label={title}>
              <h3 className="eyebrow mb-1">{title}</h3>
              <ul>
                {decisions.map((one) => (
                  <DecisionRow key={one.id} decision={one} isWanted={one.id === wanted} />
                ))}
              </ul>
            </section>
          ))}
        </section>
      )}
      {made.length > 0 && (
        <section aria-label="Choices">
          <h2>How this platform was made</h2>
          <p className="mb-1 text-muted">Choices that one may question, each with its reason.</p>
          <ul>
            {made.map((choice) => (
              <ChoiceRow key={choice.id} choice={choice} isWanted={choice.id === wanted} />
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

/** Brings what the address asks for into view. */
function useShown(isWanted: boolean) {
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isWanted) row.current?.scrollIntoView({ block: 'nearest' });
  }, [isWanted]);
  return row;
}

const WANTED = 'rounded bg-accent-soft shadow-[inset_3px_0_0_var(--accent)]';

function DecisionRow({ decision: { id, text }, isWanted }: { decision: ContractDecision; isWanted: boolean }) {
  const row = useShown(isWanted);
  const place = { screen: 'settings', search: { tab: 'decisions', id } } as const;
  return (
    <li
      ref={row}
      aria-current={isWanted ? 'true' : undefined}
      className={`group grid min-h-8 scroll-my-24 grid-cols-[72px_minmax(0,1fr)_28px] items-start border-b border-line/60 py-1 pl-2 ${isWanted ? WANTED : ''}`}
    >
      <PlaceLink to={place} className="mono inline-flex min-h-6 items-center text-accent hover:underline">
        {id}
      </PlaceLink>
      <p className="py-0.5 leading-5">
        <Line text={text} />
      </p>
      <Copy text={`${location.origin}${hrefOf(place)}`} what={`link to ${id}`} />
    </li>
  );
}

function ChoiceRow({ choice: { id, title, blocks }, isWanted }: { choice: Choice; isWanted: boolean }) {
  const row = useShown(isWanted);
  const [, change] = useSearch();
  return (
    <li
      ref={row}
      aria-current={isWanted ? 'true' : undefined}
      className={`scroll-my-24 border-b border-line/60 ${isWanted ? 'bg-panel shadow-[inset_3px_0_0_var(--accent)]' : ''}`}
    >
      <button
        type="button"
        aria-expanded={isWanted}
        className={`flex min-h-8 w-full items-center gap-2 px-2 py-1 text-left text-accent hover:underline ${isWanted ? 'font-medium' : ''}`}
        onClick={() => change({ id: isWanted ? undefined : id }, { isNewStep: true })}
      >
        {title}
      </button>
      {isWanted && (
        <div className="px-3 pt-1 pb-4">
          <Prose blocks={blocks} />
        </div>
      )}
    </li>
  );
}
