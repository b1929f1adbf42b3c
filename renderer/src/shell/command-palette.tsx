import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Search } from 'lucide-react';
import { useDeferredValue, useMemo, useState } from 'react';
import {
  Autocomplete,
  Dialog,
  Header,
  Input,
  Menu,
  MenuItem,
  MenuSection,
  Modal,
  ModalOverlay,
  SearchField,
} from 'react-aria-components';
import { searchOptions } from '../api/tree.ts';
import { hasAllWords } from '../parts/all-words.ts';
import { Key } from '../parts/button.tsx';
import { useGo } from '../url.ts';
import { useValue } from '../value-store.ts';
import { type Command, commands } from './commands.ts';

/** Most entries of one kind; more letters find the others. */
const MAX_SHOWN = 12;

/** Kinds of entries in the order of display. What the server finds comes last: it shall not move what one is about to choose. */
const GROUPS: readonly string[] = ['This screen', 'Go to', 'Create', 'World', 'Settings', 'Window', 'Resources'];

function rankOf(group: string): number {
  const rank = GROUPS.indexOf(group);
  return rank < 0 ? GROUPS.length : rank;
}

/** Find a command or a resource by some letters. */
export function CommandPalette({ isOpen, onClose }: { isOpen: boolean; onClose(): void }) {
  return (
    <ModalOverlay
      isOpen={isOpen}
      onOpenChange={(open) => !open && onClose()}
      isDismissable
      className="fixed inset-0 z-50 flex items-start justify-center bg-[rgb(10_15_12/40%)] p-4 pt-[12vh]"
    >
      <Modal className="w-full max-w-xl overflow-hidden rounded-xl border border-line bg-overlay shadow-pop">
        <Dialog aria-label="Commands and resources" className="flex max-h-[60vh] flex-col outline-none">
          <Content onClose={onClose} />
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

function Content({ onClose }: { onClose(): void }) {
  const [text, setText] = useState('');
  const offered = useValue(commands);
  const resources = useResourceCommands(text);
  const sections = useMemo(() => {
    const found = [...offered.filter((command) => matches(command, text)), ...resources];
    const groups = [...Map.groupBy(found, ({ group }) => group ?? 'This screen')];
    return groups
      .sort(([one], [other]) => rankOf(one) - rankOf(other))
      .map(([name, entries]) => ({ name, entries: entries.slice(0, MAX_SHOWN) }));
  }, [offered, resources, text]);
  const run = (id: string) => {
    onClose();
    // After the dialog has given the focus back.
    setTimeout(() => [...offered, ...resources].find((command) => command.id === id)?.run());
  };
  return (
    <Autocomplete inputValue={text} onInputChange={setText}>
      <SearchField
        aria-label="Search or run a command"
        autoFocus
        onKeyDown={(event) => {
          // Answers that come in take the place of the entry that Enter was meant for; then the first is meant.
          const first = sections[0]?.entries[0];
          const isMeant = event.target instanceof Element && event.target.hasAttribute('aria-activedescendant');
          if (event.key === 'Enter' && first && !isMeant) run(first.id);
          else if (event.key === 'Escape') onClose();
          else event.continuePropagation();
        }}
        className="flex items-center gap-2.5 border-b border-line px-4"
      >
        <Search aria-hidden size={16} className="text-faint" />
        <Input
          placeholder="Search or run a command"
          className="h-11 flex-1 bg-transparent text-[14px] outline-none [&::-webkit-search-cancel-button]:hidden"
        />
        <Key>Esc</Key>
      </SearchField>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable with the keyboard */}
      <section aria-label="Found" tabIndex={0} className="min-h-0 flex-1 overflow-auto">
        <Menu
          aria-label="Commands and resources"
          onAction={(id) => run(String(id))}
          className="p-1.5 outline-none"
          renderEmptyState={() => <p className="p-6 text-center text-muted">Nothing is called that.</p>}
        >
          {sections.map(({ name, entries }) => (
            <MenuSection key={name} id={name}>
              <Header className="eyebrow px-2.5 pt-2 pb-1">{name}</Header>
              {entries.map(({ id, text: title, words, icon: Icon, keys }) => (
                <MenuItem
                  key={id}
                  id={id}
                  textValue={title}
                  className="flex h-8 cursor-default items-center gap-2.5 rounded-md px-2.5 outline-none data-[focused]:bg-accent-soft"
                >
                  {Icon && <Icon aria-hidden size={15} strokeWidth={1.7} className="text-muted" />}
                  <span className="truncate">{title}</span>
                  {id.startsWith('resource ') && <span className="truncate text-[12px] text-faint">{words}</span>}
                  {keys && <kbd className="ml-auto text-[11px] text-faint">{keys}</kbd>}
                </MenuItem>
              ))}
            </MenuSection>
          ))}
        </Menu>
      </section>
    </Autocomplete>
  );
}

function matches({ text, words = '' }: Command, typed: string): boolean {
  return hasAllWords(typed, text, words);
}

/** Resources whose name, type or id holds what is typed, as commands that open them; the server looks for them. */
function useResourceCommands(typed: string): readonly Command[] {
  const go = useGo();
  const q = useDeferredValue(typed.trim());
  const { data, isPlaceholderData } = useQuery({
    ...searchOptions({ q: q || undefined, limit: MAX_SHOWN }),
    placeholderData: keepPreviousData,
  });
  return useMemo(() => {
    const found = (data?.rows ?? []).map(({ id, name, word, fqon }) => ({
      id: `resource ${id}`,
      text: name,
      words: `${word} in ${fqon}`,
      group: 'Resources',
      run: () => go({ screen: 'resources', id }),
    }));
    // What was found for fewer letters is kept until the answer, but only as far as it is meant by all of them.
    return isPlaceholderData ? found.filter((command) => matches(command, q)) : found;
  }, [data, isPlaceholderData, q, go]);
}
