import type { ReactNode } from 'react';
import { Tabs as AriaTabs, Tab, TabList, TabPanel } from 'react-aria-components';

export interface TabEntry {
  id: string;
  title: string;
  count?: number | undefined;
  /** Drawn when the tab is open only. */
  content: ReactNode;
  /** The content fills the height and scrolls itself: an editor, a log, a list. */
  isFilling?: boolean;
}

export interface TabsProps {
  label: string;
  tabs: readonly TabEntry[];
  /** The open tab; the first one when it is not among them. Keep it in the address: `search.tab`. */
  value: string | undefined;
  onChange(id: string): void;
  /** The tabs are part of the detail of a `SplitPane`, which scrolls as a whole. */
  isInDetail?: boolean;
}

const SCROLLING_PANEL = 'min-h-0 flex-1 overflow-auto';
/**
 * The classes of a tab panel in a detail. Content above the tabs may take all of the detail's height; the detail then
 * scrolls, and the panel still has 240 pixels.
 */
const PANEL_IN_DETAIL = 'min-h-60 shrink-0 grow';
const FILLED_PANEL_IN_DETAIL = `${PANEL_IN_DETAIL} h-0 overflow-auto`;

/** Tabs that fill the space they are given; the panel scrolls, or the detail that they are part of. */
export function Tabs({ label, tabs, value, onChange, isInDetail }: TabsProps) {
  const open = tabs.some(({ id }) => id === value) ? value : tabs[0]?.id;
  return (
    <AriaTabs
      {...(open !== undefined && { selectedKey: open })}
      onSelectionChange={(key) => onChange(String(key))}
      className={`flex flex-col ${isInDetail ? 'shrink-0 grow' : 'min-h-0 flex-1'}`}
    >
      <TabList
        aria-label={label}
        className="flex shrink-0 gap-0.5 overflow-x-auto overflow-y-hidden border-b border-line px-3 pt-1"
      >
        {tabs.map(({ id, title, count }) => (
          <Tab
            key={id}
            id={id}
            className="flex cursor-default items-center gap-1.5 border-b-2 border-transparent px-2.5 py-1.5 whitespace-nowrap text-muted outline-offset-[-2px] data-[hovered]:text-text data-[selected]:border-accent data-[selected]:font-medium data-[selected]:text-text"
          >
            {title}
            {count !== undefined && (
              <span className="text-small font-normal text-faint">{count.toLocaleString('en')}</span>
            )}
          </Tab>
        ))}
      </TabList>
      {tabs.map(({ id, content, isFilling }) => (
        <TabPanel
          key={id}
          id={id}
          className={`outline-offset-[-2px] ${!isInDetail ? SCROLLING_PANEL : isFilling ? FILLED_PANEL_IN_DETAIL : PANEL_IN_DETAIL}`}
        >
          {content}
        </TabPanel>
      ))}
    </AriaTabs>
  );
}
