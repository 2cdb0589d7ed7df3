/** Reads server-sent events piece by piece, and hands on the data of each. */
export function openEventData(take: (data: string) => void) {
  let rest = ''
  return (piece: string) => {
    const events = `${rest}${piece}`.split('\n\n')
    rest = events.pop()!
    for (const event of events) if (event.startsWith('data: ')) take(event.slice('data: '.length))
  }
}
