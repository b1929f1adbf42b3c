import { CircleAlert, Search } from 'lucide-react';
import { useMemo, useState } from 'react';
import {
  Autocomplete,
  Dialog,
  Header,
  Input,
  ListBox,
  ListBoxItem,
  ListBoxSection,
  Modal,
  ModalOverlay,
  SearchField,
} from 'react-aria-components';
import { type SearchState, useEverything } from '../api/use-everything.ts';
import { hasAllWords } from '../components/all-words.ts';
import { Time } from '../components/amount.tsx';
import { counted } from '../components/amounts.ts';
import { Button, Key } from '../components/button.tsx';
import { FoundText } from '../components/found-text.tsx';
import { literal } from '../components/log-expression.ts';
import { useGo } from '../url.ts';
import { useValue } from '../value-store.ts';
import { type Command, commands } from './commands.ts';
import { type FoundEntry, sectionsOf } from './found-entry.ts';

/** Most entries of one kind; more letters find the others. */
const MAX_SHOWN = 12;

/** Kinds of commands in the order of display. What the server finds comes last: it must not move the entry about to be chosen. */
const GROUPS: readonly string[] = [
  'This screen',
  'Go to',
  'Actions',
  'Lambdas',
  'Create',
  'World',
  'Settings',
  'Window',
];

function rankOf(group: string): number {
  const rank = GROUPS.indexOf(group);
  return rank < 0 ? GROUPS.length : rank;
}

/** Finds commands, and everything on the platform that contains the words. */
export function CommandPalette({ isOpen, onClose }: { isOpen: boolean; onClose(): void }) {
  return (
    <ModalOverlay
      isOpen={isOpen}
      onOpenChange={(open) => !open && onClose()}
      isDismissable
      className="fixed inset-0 z-50 flex items-start justify-center bg-[rgb(10_15_12/40%)] p-4 pt-[12vh]"
    >
      <Modal className="w-full max-w-3xl overflow-hidden rounded-xl border border-line bg-overlay shadow-pop">
        <Dialog aria-label="Commands and resources" className="flex max-h-[72vh] flex-col outline-none">
          <Content onClose={onClose} />
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

function Content({ onClose }: { onClose(): void }) {
  const [text, setText] = useState('');
  const offered = useValue(commands);
  const search = useEverything(text);
  const go = useGo();
  const isTyped = text.trim() !== '';
  const sections = useMemo(() => {
    // Without a word, one entry for each lambda would hide the others.
    const matching = offered.filter((command) => matches(command, text) && (isTyped || command.group !== 'Lambdas'));
    const groups = [...Map.groupBy(matching, ({ group }) => group ?? 'This screen')];
    return groups
      .sort(([a], [other]) => rankOf(a) - rankOf(other))
      .map(([name, entries]) => ({ name, entries: entries.slice(0, MAX_SHOWN) }));
  }, [offered, isTyped, text]);
  const { q, hits, found } = search;
  const results = useMemo(() => (isTyped ? sectionsOf({ q, hits, found }) : []), [isTyped, q, hits, found]);
  const marked = useMemo(() => markOf(text), [text]);
  const run = (id: string) => {
    onClose();
    const command = offered.find((candidate) => candidate.id === id);
    const entry = results.flatMap(({ entries }) => entries).find((candidate) => candidate.id === id);
    // After the dialog has given the focus back.
    setTimeout(() => (command ? command.run() : entry && go(entry.location)));
  };
  return (
    <Autocomplete inputValue={text} onInputChange={setText}>
      <SearchField
        aria-label="Search or run a command"
        autoFocus
        onKeyDown={(event) => {
          // Answers that come in take the place of the entry that Enter was meant for; then the first is meant.
          const first = [...sections, ...results][0]?.entries[0];
          const isOptionTarget = event.target instanceof Element && event.target.hasAttribute('aria-activedescendant');
          if (event.key === 'Enter' && first && !isOptionTarget) run(first.id);
          else if (event.key === 'Escape') onClose();
          else event.continuePropagation();
        }}
        className="flex items-center gap-2.5 border-b border-line px-4"
      >
        <Search aria-hidden size={16} className="text-faint" />
        <Input
          placeholder="Search or run a command"
          className="h-11 flex-1 bg-transparent text-title outline-none [&::-webkit-search-cancel-button]:hidden"
        />
        <Key>Esc</Key>
      </SearchField>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable with the keyboard */}
      <section aria-label="Found" tabIndex={0} className="min-h-0 flex-1 overflow-auto">
        {/* The items of a menu would be selected under a resting pointer, even items that the typed text is about to remove. */}
        <ListBox
          aria-label="Commands and resources"
          onAction={(id) => run(String(id))}
          className="p-1.5 outline-none"
          renderEmptyState={() => (
            <p className="p-6 text-center text-muted">
              {!isTyped || search.state === 'complete' ? 'No match.' : 'Nothing found so far.'}
            </p>
          )}
        >
          {sections.map(({ name, entries }) => (
            <ListBoxSection key={name} id={name}>
              <Header className="eyebrow px-2.5 pt-2 pb-1">{name}</Header>
              {entries.map(({ id, text: title, icon: Icon, keys }) => (
                <ListBoxItem
                  key={id}
                  id={id}
                  textValue={title}
                  className="flex h-8 cursor-default items-center gap-2.5 rounded-md px-2.5 outline-none data-[focused]:bg-accent-soft"
                >
                  {Icon && <Icon aria-hidden size={15} strokeWidth={1.7} className="text-muted" />}
                  <span className="truncate">{title}</span>
                  {keys && <kbd className="ml-auto text-small text-faint">{keys}</kbd>}
                </ListBoxItem>
              ))}
            </ListBoxSection>
          ))}
          {results.map(({ name, entries }) => (
            <ListBoxSection key={name.split(':')[0]} id={`found ${name.split(':')[0]}`}>
              <Header className="eyebrow px-2.5 pt-2 pb-1">{name}</Header>
              {entries.map((entry) => (
                <ListBoxItem
                  key={entry.id}
                  id={entry.id}
                  textValue={`${entry.text} ${entry.excerpt ?? ''}`}
                  className="flex min-h-8 cursor-default items-center gap-2.5 rounded-md px-2.5 py-0.5 outline-none data-[focused]:bg-accent-soft"
                >
                  <FoundLine entry={entry} marked={marked} />
                </ListBoxItem>
              ))}
            </ListBoxSection>
          ))}
        </ListBox>
      </section>
      {isTyped && <SearchStatus search={search} />}
    </Autocomplete>
  );
}

function matches({ text, synonyms = '' }: Command, typed: string): boolean {
  return hasAllWords(typed, text, synonyms);
}

function markOf(text: string): RegExp | undefined {
  const terms = text.match(/"[^"]+"|[^\s"]+/g)?.map((term) => literal(term.replaceAll('"', '')));
  return terms && new RegExp(terms.join('|'), 'gi');
}

function FoundLine({ entry, marked }: { entry: FoundEntry; marked: RegExp | undefined }) {
  const { icon: Icon, text, detail, excerpt, at, isFailed } = entry;
  return (
    <>
      {isFailed ? (
        <CircleAlert aria-label="failed" size={15} className="shrink-0 text-error" />
      ) : (
        <Icon aria-hidden size={15} strokeWidth={1.7} className="shrink-0 text-muted" />
      )}
      <span className="min-w-0 max-w-[50%] shrink-0 truncate">
        <FoundText text={text} expression={marked} />
      </span>
      <span className="mono min-w-0 flex-1 truncate text-faint">
        {detail !== undefined && <span className="mr-2">{detail}</span>}
        {excerpt !== undefined && <FoundText text={excerpt} expression={marked} />}
      </span>
      {at !== undefined && (
        <span className="shrink-0 text-small text-faint">
          <Time at={at} />
        </span>
      )}
    </>
  );
}

/** Shows the search's progress. Until it is complete, the text does not claim that nothing was found. */
function SearchStatus({ search: { state, progress, found, cancel } }: { search: SearchState & { cancel(): void } }) {
  const total = Object.values(found).reduce((sum, count) => sum + (count ?? 0), 0);
  const count = total.toLocaleString('en');
  const texts = {
    searching: `Searching everything: ${Math.trunc(progress * 100)} %, ${count} found so far`,
    complete: counted(total, 'result'),
    canceled: `Search canceled at ${Math.trunc(progress * 100)} %, ${count} found so far`,
    failed: `The search ended early, ${count} found so far. Change the words to try again.`,
  };
  return (
    <p className="flex min-h-8 items-center gap-3 border-t border-line px-4 text-small text-muted">
      <span role="status" className={state === 'failed' ? 'text-error' : ''}>
        {texts[state]}
      </span>
      {state === 'searching' && (
        <Button look="quiet" className="ml-auto" onPress={cancel}>
          Cancel
        </Button>
      )}
    </p>
  );
}
