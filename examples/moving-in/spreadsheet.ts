// A spreadsheet with German dates (31.12.2019 9:30), and the names and addresses of the authors.

import type { Transform } from 'rostrum/import';

const seen = new Set<string>();

export const users: Transform = (row) => {
  const email = row['E-Mail'].toLowerCase();
  const isNew = email !== '' && !seen.has(email);
  seen.add(email);
  return isNew ? { name: row.Autor || email, email } : null;
};

export const posts: Transform = (row, { instant }) => {
  const [day, month, year, hour = '0', minute = '00'] = row.Datum.split(/[. :]+/);
  const date = `${year}-${month?.padStart(2, '0')}-${day.padStart(2, '0')}`;
  const time = `${date} ${hour.padStart(2, '0')}:${minute}`;
  const isPublic = row.Online.toLowerCase() === 'ja';
  const at = row.Datum && instant(time, { timeZone: 'Europe/Berlin' });
  return {
    title: row.Titel || '(ohne Titel)',
    body: row.Text,
    authorId: { email: row['E-Mail'] },
    publishedAt: isPublic ? at || instant(row.Datum) : null,
    originalDate: isPublic ? undefined : at || undefined,
  };
};
