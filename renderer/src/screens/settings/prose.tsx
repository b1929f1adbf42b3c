import { Fragment } from 'react';
import { TableHead } from '../../parts/table-head.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { type Block, runsIn } from './markdown.ts';

/** Blocks of our own documents, drawn; what they say is text, never markup. */
export function Prose({ blocks }: { blocks: readonly Block[] }) {
  return (
    <div className="flex max-w-[76ch] flex-col gap-2.5 leading-relaxed">
      {blocks.map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks have their place and nothing else
        <Fragment key={index}>{drawn(block)}</Fragment>
      ))}
    </div>
  );
}

function drawn(block: Block) {
  if (block.kind === 'paragraph') {
    return (
      <p>
        <Line text={block.text} />
      </p>
    );
  }
  if (block.kind === 'list') {
    return (
      <ul className="flex list-disc flex-col gap-1 pl-5">
        {block.items.map((item) => (
          <li key={item}>
            <Line text={item} />
          </li>
        ))}
      </ul>
    );
  }
  return (
    <table className="w-full text-left">
      <TableHead cell="pr-3" heads={block.head} />
      <tbody>
        {block.rows.map((row) => (
          <tr key={row.join('|')} className="border-b border-line/60 align-top">
            {row.map((cell, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a cell is its column
              <td key={index} className="py-1 pr-3">
                <Line text={cell} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A line with its code, strong words and links; a link to another of these documents leads there within the page. */
export function Line({ text }: { text: string }) {
  return runsIn(text).map(({ kind, text: words, to = '' }, index) => {
    const key = `${index} ${words}`;
    if (kind === 'code') {
      return (
        <code key={key} className="rounded bg-raised px-1 break-words">
          {words}
        </code>
      );
    }
    if (kind === 'strong') return <strong key={key}>{words}</strong>;
    const [, id] = /([^/]+)\.md$/.exec(to) ?? [];
    if (kind === 'link' && id) {
      const search = { tab: 'decisions', ...(id !== 'contract' && { id }) };
      return (
        <PlaceLink key={key} to={{ screen: 'settings', search }}>
          {words}
        </PlaceLink>
      );
    }
    return <Fragment key={key}>{words}</Fragment>;
  });
}
