import {
  ArrowDownToLine,
  ArrowUpFromLine,
  ArrowUpRight,
  BookOpen,
  Camera,
  KeyRound,
  Plus,
  RotateCcw,
  ScrollText,
  SlidersHorizontal,
} from 'lucide-react';
import { download } from '../api/download.ts';
import { kindOfWord, typeWords } from '../api/resource-kinds.ts';
import type { ScreenName } from '../screens/registry.ts';
import { type Search, useGo, usePlaceId } from '../url.ts';
import { type Command, useCommands } from './commands.ts';

interface Destination extends Omit<Command, 'run'> {
  screen: ScreenName;
  /** Id of the detail page on the screen. */
  page?: string;
  search?: Search;
}

/** Places within a screen that one may look for by name. */
const DESTINATIONS: readonly Destination[] = [
  {
    id: 'outbound calls',
    text: 'Outbound calls of lambdas',
    synonyms: 'invocations http requests crm trace called',
    icon: ArrowUpRight,
    group: 'Go to',
    keys: 'g o',
    screen: 'invocations',
    search: { list: 'outbound' },
  },
  {
    id: 'log lines',
    text: 'Log lines of lambdas',
    synonyms: 'invocations logs printed console journal stderr',
    icon: ScrollText,
    group: 'Go to',
    keys: 'g w',
    screen: 'invocations',
    search: { list: 'lines' },
  },
  {
    id: 'snapshots',
    text: 'Snapshots of the world',
    synonyms: 'keep save compare restore',
    icon: Camera,
    group: 'World',
    screen: 'history',
    search: { dialog: 'snapshots' },
  },
  {
    id: 'import',
    text: 'Import a file',
    synonyms: 'upload zip yaml seed load',
    icon: ArrowUpFromLine,
    group: 'World',
    screen: 'history',
    search: { dialog: 'import' },
  },
  {
    id: 'reset',
    text: 'Reset to a seed',
    synonyms: 'begin again empty demo clear',
    icon: RotateCcw,
    group: 'World',
    screen: 'history',
    search: { dialog: 'reset' },
  },
  {
    id: 'access',
    text: 'API keys and access tokens',
    synonyms: 'settings credentials revoke users account',
    icon: KeyRound,
    group: 'Settings',
    screen: 'settings',
    search: { tab: 'access' },
  },
  {
    id: 'configuration',
    text: 'Configuration and addresses',
    synonyms: 'settings platform flags environment variables sizes caps',
    icon: SlidersHorizontal,
    group: 'Settings',
    screen: 'settings',
    search: { tab: 'platform' },
  },
  {
    id: 'decisions',
    text: 'Emulator behavior',
    synonyms: 'help documentation decisions specification contract D-',
    icon: BookOpen,
    group: 'Go to',
    screen: 'help',
    page: 'reference/emulator-behavior',
  },
];

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Puts them into the palette, with taking the world along, and for each type one that creates: where one is, or where one then says. */
export function usePlaceCommands(): void {
  const go = useGo();
  const shownId = usePlaceId();
  // On other screens it may be the name of something else.
  const id = shownId !== undefined && UUID.test(shownId) ? shownId : undefined;
  useCommands([
    ...typeWords.map((collection) => ({
      id: `new ${collection}`,
      text: `New ${kindOfWord(collection).title}`,
      synonyms: `create add ${collection}`,
      icon: Plus,
      group: 'Create',
      run: () => go({ screen: 'resources', id, search: { new: collection } }),
    })),
    ...DESTINATIONS.map(({ screen, page, search, ...command }) => ({
      ...command,
      run: () => go({ screen, id: page, search }),
    })),
    {
      id: 'export',
      text: 'Export everything (zip)',
      synonyms: 'download save backup archive',
      icon: ArrowDownToLine,
      group: 'World',
      run: () => void download('/inspect/archive', 'terrarium.zip'),
    },
  ]);
}
