import { Fragment } from 'react';
import { Copy } from '../../components/copy.tsx';
import { TableHead } from '../../components/table-head.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { type Block, runsIn } from './markdown.ts';
import { targetOf } from './pages.ts';

const TARGET_CLASSES = 'rounded px-2 bg-accent-soft shadow-[inset_3px_0_0_var(--accent)]';

interface Reader {
  page: string;
  /** The anchor that the address asks for. */
  at?: string | undefined;
}

/** Blocks of our own documents; their text is never markup. */
export function Prose({ blocks, ...reader }: { blocks: readonly Block[] } & Reader) {
  return (
    <div className="flex max-w-[76ch] flex-col gap-2.5 leading-relaxed">
      {blocks.map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks have their place and nothing else
        <Fragment key={index}>{drawn(block, reader)}</Fragment>
      ))}
    </div>
  );
}

function drawn(block: Block, reader: Reader) {
  const line = (text: string) => <Line text={text} page={reader.page} />;
  const marked = (anchor: string | undefined) => ({
    id: anchor,
    'aria-current': anchor !== undefined && anchor === reader.at ? ('true' as const) : undefined,
    className: `scroll-mt-4 ${anchor !== undefined && anchor === reader.at ? TARGET_CLASSES : ''}`,
  });
  switch (block.kind) {
    case 'heading': {
      const Heading = block.level <= 2 ? 'h3' : 'h4';
      return (
        <div {...marked(block.anchor)}>
          <Heading className={`pt-3 font-semibold ${block.level <= 2 ? 'text-title' : ''}`}>{line(block.text)}</Heading>
        </div>
      );
    }
    case 'paragraph':
      return <p>{line(block.text)}</p>;
    case 'code':
      return (
        <div className="relative">
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: wide code is scrolled with the keyboard */}
          <pre tabIndex={0} className="mono overflow-x-auto rounded bg-raised p-3 pr-10 text-small">
            {block.text}
          </pre>
          <span className="absolute top-1 right-1">
            <Copy text={block.text} subject="code" />
          </span>
        </div>
      );
    case 'list': {
      const List = block.isNumbered ? 'ol' : 'ul';
      return (
        <List className={`flex flex-col gap-1 pl-5 ${block.isNumbered ? 'list-decimal' : 'list-disc'}`}>
          {block.items.map(({ anchor, text }) => (
            <li key={text} {...marked(anchor)}>
              {line(text)}
            </li>
          ))}
        </List>
      );
    }
    case 'table':
      return (
        <table className="w-full text-left">
          <TableHead cell="pr-3" heads={block.head} />
          <tbody>
            {block.rows.map((row) => (
              <tr key={row.join('|')} className="border-b border-line/60 align-top">
                {row.map((cell, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: a cell is its column
                  <td key={index} className="py-1 pr-3">
                    {line(cell)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      );
  }
}

export function Line({ text, page }: { text: string; page: string }) {
  return runsIn(text).map(({ kind, text: runText, to = '' }, index) => {
    const key = `${index} ${runText}`;
    if (kind === 'code') {
      return (
        <code key={key} className="rounded bg-raised px-1 break-words">
          {runText}
        </code>
      );
    }
    if (kind === 'strong') return <strong key={key}>{runText}</strong>;
    if (kind === 'text') return <Fragment key={key}>{runText}</Fragment>;
    const target = targetOf(to, page);
    if (target) {
      return (
        <PlaceLink key={key} to={{ screen: 'help', id: target.id, search: { at: target.at } }}>
          {runText}
        </PlaceLink>
      );
    }
    if (!/^https?:/.test(to)) return <Fragment key={key}>{runText}</Fragment>;
    return (
      <a key={key} className="link" href={to} target="_blank" rel="noreferrer">
        {runText}
      </a>
    );
  });
}
