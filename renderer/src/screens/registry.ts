import {
  Box,
  GitBranch,
  History,
  House,
  Inbox,
  ListTree,
  type LucideIcon,
  Settings,
  SquareFunction,
  Waypoints,
  Workflow,
} from 'lucide-react';

/** A screen of the window: one entry in the rail; its folder of the same name holds `screen.tsx`, a part of the bundle of its own. */
export interface ScreenEntry {
  path: string;
  title: string;
  icon: LucideIcon;
  /** The letter after `g`. */
  letter: string;
  /** The rail's lower group. */
  isLow?: boolean;
}

const entries = {
  home: { path: '/', title: 'Home', icon: House, letter: 'h' },
  resources: {
    path: '/resources',
    title: 'Resources',
    icon: ListTree,
    letter: 'r',
  },
  lambdas: {
    path: '/lambdas',
    title: 'Lambdas',
    icon: SquareFunction,
    letter: 'l',
  },
  invocations: {
    path: '/invocations',
    title: 'Invocations',
    icon: Workflow,
    letter: 'i',
  },
  gateway: {
    path: '/gateway',
    title: 'Gateway',
    icon: Waypoints,
    letter: 'g',
  },
  containers: {
    path: '/containers',
    title: 'Containers',
    icon: Box,
    letter: 'c',
  },
  leads: { path: '/leads', title: 'Leads', icon: Inbox, letter: 'e' },
  pipelines: {
    path: '/pipelines',
    title: 'Pipelines',
    icon: GitBranch,
    letter: 'p',
  },
  history: {
    path: '/history',
    title: 'History',
    icon: History,
    letter: 't',
    isLow: true,
  },
  settings: {
    path: '/settings',
    title: 'Settings',
    icon: Settings,
    letter: 's',
    isLow: true,
  },
} satisfies Record<string, ScreenEntry>;

export type ScreenName = keyof typeof entries;
export const screens: Readonly<Record<ScreenName, ScreenEntry>> = entries;
export const screenNames = Object.keys(entries) as ScreenName[]; // Object.keys forgets the type of the keys
