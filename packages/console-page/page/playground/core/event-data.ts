/** Incremental parser of server-sent events. Passes on the data of each event. */
export function openEventData(take: (data: string) => void) {
  let rest = ''
  return (piece: string) => {
    const events = `${rest}${piece}`.split('\n\n')
    rest = events.pop()!
    for (const event of events) if (event.startsWith('data: ')) take(event.slice('data: '.length))
  }
}
