import type { LucideIcon } from 'lucide-react';
import { ToggleButton, ToggleButtonGroup } from 'react-aria-components';

export interface SegmentsProps {
  /** Read aloud. */
  label: string;
  segments: readonly { id: string; text: string; icon?: LucideIcon }[];
  value: string;
  onChange(id: string): void;
}

export function Segments({ label, segments, value, onChange }: SegmentsProps) {
  return (
    <ToggleButtonGroup
      aria-label={label}
      selectionMode="single"
      disallowEmptySelection
      selectedKeys={[value]}
      onSelectionChange={([key]) => key !== undefined && onChange(String(key))}
      className="inline-flex h-7 shrink-0 overflow-hidden rounded-md border border-line-strong"
    >
      {segments.map(({ id, text, icon: Icon }) => (
        <ToggleButton
          key={id}
          id={id}
          className="inline-flex items-center gap-1.5 border-l border-line-strong px-2.5 whitespace-nowrap text-muted outline-offset-[-2px] first:border-l-0 data-[hovered]:bg-raised data-[selected]:bg-accent-soft data-[selected]:font-medium data-[selected]:text-text"
        >
          {Icon && <Icon aria-hidden size={14} />}
          {text}
        </ToggleButton>
      ))}
    </ToggleButtonGroup>
  );
}
