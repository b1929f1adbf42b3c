import { useEffect, useMemo, useRef } from 'react';
import { Copy } from '../../components/copy.tsx';
import { EmptyState, NoMatch } from '../../components/empty-state.tsx';
import { FindField } from '../../components/find-field.tsx';
import { SplitPane } from '../../components/split-pane.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { ScreenFrame } from '../../shell/screen-frame.tsx';
import { hrefOf, useGo, usePlaceId, useSearch } from '../../url.ts';
import { DECISIONS, foundIn, type HelpPage, pageOf } from './pages.ts';
import { Line, Prose } from './prose.tsx';

const files = import.meta.glob<string>(['../../../../docs/**/*.md', '!../../../../docs/internals/**'], {
  query: '?raw',
  import: 'default',
  eager: true,
});
const pages = new Map(
  Object.entries(files).map(([path, text]) => {
    const page = pageOf(path, text);
    return [page.id, page];
  }),
);
const INDEX = 'index';
/** The most matches on one page that a search shows. */
const MAX_PLACES = 8;

/** The documentation of this version: its pages by task, one page, or what a search finds. */
export default function HelpScreen() {
  const [{ q = '', at }, change] = useSearch();
  const id = usePlaceId();
  const go = useGo();
  // A decision is known by its number alone.
  const isDecision = id === undefined ? false : /^d-\d{3}$/i.test(id);
  const pageId = isDecision ? DECISIONS : id;
  const anchor = isDecision ? id?.toLowerCase() : at?.toLowerCase();
  const list =
    q === '' ? <Contents currentPageId={pageId} /> : <Found query={q} onClear={() => change({ q: undefined })} />;
  return (
    <ScreenFrame
      title="Help"
      bar={
        <FindField
          label="Search the documentation"
          placeholder="Words or a number: rate limit, D-155"
          className="w-80"
        />
      }
    >
      <SplitPane
        name="help"
        fixed="list"
        width={320}
        list={<div className="min-h-0 flex-1 overflow-y-auto px-3.5 py-3">{list}</div>}
        detail={pageId === undefined ? undefined : <Page key={pageId} id={pageId} at={anchor} />}
        detailLabel="Page"
        onClose={() => go({ screen: 'help', search: { q } })}
      />
    </ScreenFrame>
  );
}

/** The index: what one wants to do, and the page for it. */
function Contents({ currentPageId }: { currentPageId: string | undefined }) {
  const blocks = pages.get(INDEX)?.blocks ?? [];
  return (
    <nav aria-label="Pages" className="flex flex-col gap-3">
      {blocks.map((block) => {
        if (block.kind === 'heading') {
          return (
            <h2 key={block.anchor} className="eyebrow pt-1">
              {block.text}
            </h2>
          );
        }
        if (block.kind !== 'table') return null;
        return (
          <ul key={block.rows.join()} className="flex flex-col gap-1.5">
            {block.rows.map(([task = '', page = '']) => (
              <li
                key={page}
                aria-current={
                  currentPageId !== undefined && page.includes(`(${currentPageId}.md)`) ? 'true' : undefined
                }
              >
                <Line text={page} page={INDEX} />
                <p className="text-muted">
                  <Line text={task} page={INDEX} />
                </p>
              </li>
            ))}
          </ul>
        );
      })}
    </nav>
  );
}

function Found({ query, onClear }: { query: string; onClear: () => void }) {
  const found = useMemo(
    () =>
      [...pages.values()]
        .filter(({ id }) => id !== INDEX)
        .map((page) => ({ page, sections: foundIn(page, query) }))
        .filter(({ sections }) => sections.length > 0),
    [query],
  );
  const count = found.reduce((sum, { sections }) => sum + sections.length, 0);
  if (count === 0) return <NoMatch subject="pages" onClear={onClear} />;
  return (
    <div className="flex flex-col gap-3">
      <p className="text-muted" role="status">
        {count} {count === 1 ? 'place' : 'places'} on {found.length} {found.length === 1 ? 'page' : 'pages'}
      </p>
      {found.map(({ page, sections }) => (
        <section key={page.id} aria-label={page.title}>
          <h2 className="eyebrow mb-1">{page.title}</h2>
          <ul className="flex flex-col gap-1">
            {sections.slice(0, MAX_PLACES).map(({ anchor, title }) => (
              <li key={anchor ?? ''}>
                <PlaceLink to={{ screen: 'help', id: page.id, search: { q: query, at: anchor } }}>{title}</PlaceLink>
              </li>
            ))}
          </ul>
          {sections.length > MAX_PLACES && <p className="text-muted">and {sections.length - MAX_PLACES} more</p>}
        </section>
      ))}
    </div>
  );
}

function Page({ id, at }: { id: string; at: string | undefined }) {
  const page = useRef<HTMLElement>(null);
  const helpPage: HelpPage | undefined = pages.get(id);
  useEffect(() => {
    // An anchor is any text that the address has, so it is not looked for with a selector.
    const target =
      at === undefined
        ? undefined
        : [...(page.current?.querySelectorAll('[id]') ?? [])].find((element) => element.id === at);
    target?.scrollIntoView({ block: 'start' });
  }, [at]);
  const isMissing = at !== undefined && !helpPage?.sections.some(({ anchor }) => anchor === at);
  if (!helpPage)
    return <EmptyState title={`Page ${id} not found`} text="This version of Terrarium does not have it." />;
  return (
    <article ref={page} aria-label={helpPage.title} className="min-h-0 flex-1 overflow-y-auto px-5 py-4">
      <div className="mb-2 flex items-center gap-2">
        <h2 className="text-large">{helpPage.title}</h2>
        <Copy
          text={`${location.origin}${hrefOf({ screen: 'help', id, search: { at } })}`}
          subject={`link to ${helpPage.title}`}
        />
      </div>
      {isMissing && <p className="mb-2 text-muted">{at.toUpperCase()} is not on this page.</p>}
      <Prose blocks={helpPage.blocks} page={id} at={at} />
    </article>
  );
}
