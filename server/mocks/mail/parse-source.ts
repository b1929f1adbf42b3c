import type { AddressObject, Attachment } from 'mailparser';
import { simpleParser } from 'mailparser';
import { reasonOf } from '../../model/errors.ts';
import type { Mail } from './mail.ts';

/** HTML above that is not converted to text, which takes long. */
const MAX_CONVERTED_CHARACTERS = 1024 * 1024;
const MAX_NAME_CHARACTERS = 200;
/** An image that was put in place of a link to an attachment. */
const EMBEDDED_IMAGE = /(?<==\s*)(["'])data:[^"']*\1/g;
const CONTENT_TYPE = /^[\w.+-]+\/[\w.+-]+$/;

type ParsedMembers = Pick<Mail, 'subject' | 'from' | 'to' | 'cc' | 'text' | 'html' | 'attachments' | 'problem'>;

/** Parses the source of a mail. A mail that cannot be parsed has a `problem` instead of contents. */
export async function parseSource(source: Buffer): Promise<ParsedMembers> {
  try {
    const { subject = '', from, to, cc, text, html, attachments } = await parse(source);
    return {
      subject,
      from: addressesOf(from),
      to: addressesOf(to),
      cc: addressesOf(cc),
      text: text ?? (html ? await textOf(html) : ''),
      ...(html && { html }),
      attachments: attachments.map((attachment, index) => ({
        name: nameOf(attachment, index),
        type: typeOf(attachment),
        sizeBytes: attachment.size,
      })),
    };
  } catch (cause) {
    const problem = `the mail cannot be parsed: ${reasonOf(cause)}. Its source is complete.`;
    return { subject: '', from: [], to: [], cc: [], text: '', attachments: [], problem };
  }
}

/** The parser converts HTML only where it is no alternative of another part, such as the calendar of an invitation. */
async function textOf(html: string): Promise<string> {
  const part = `Content-Type: text/html; charset=utf-8\r\n\r\n${html.replaceAll(EMBEDDED_IMAGE, '""')}`;
  return (await parse(Buffer.from(part))).text ?? '';
}

/** Returns the content of an attachment; undefined if the mail has fewer. @param index counts from 0 */
export async function attachmentIn(source: Buffer, index: number): Promise<Buffer | undefined> {
  return (await parse(source)).attachments[index]?.content;
}

const parse = (source: Buffer) =>
  simpleParser(source, {
    maxHtmlLengthToParse: MAX_CONVERTED_CHARACTERS,
    skipTextToHtml: true,
    skipTextLinks: true,
    checksumAlgo: false,
  });

function addressesOf(header: AddressObject | AddressObject[] | undefined): Mail['from'] {
  return [header ?? []]
    .flat()
    .flatMap(({ value }) =>
      value.flatMap(
        ({ name, address = '', group }) =>
          group?.map((member) => ({ name: member.name, address: member.address ?? '' })) ?? { name, address },
      ),
    );
}

/** Returns a file name without folders and control characters, which a client can save as it is. */
function nameOf({ filename = '' }: Attachment, index: number): string {
  const lastSegment = filename.split(/[/\\]/).at(-1) ?? '';
  const name = lastSegment.replaceAll(/\p{C}/gu, '').trim().slice(-MAX_NAME_CHARACTERS);
  return /^\.*$/.test(name) ? `attachment-${index + 1}` : name;
}

function typeOf({ contentType }: Attachment): string {
  return CONTENT_TYPE.test(contentType) ? contentType : 'application/octet-stream';
}
