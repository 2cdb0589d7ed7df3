const texts = {
  second: new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' }),
  minute: new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' }),
  day: new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' }),
}

/** Time in the reader's zone, to the given precision; UTC to the millisecond on hover. */
export function Moment({ iso, to = 'minute' }: { iso: string; to?: keyof typeof texts }) {
  return (
    <time dateTime={iso} title={`${iso.replace('T', ' ').replace('Z', '')} UTC`}>
      {texts[to].format(new Date(iso))}
    </time>
  )
}
