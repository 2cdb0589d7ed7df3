interface ReadByPages {
  hasNextPage: boolean
  isFetchingNextPage: boolean
  fetchNextPage: () => Promise<unknown>
}

/** Adds the next page of a list to it; nothing where there is none. */
export function ShowMore({ list, text = 'Show more' }: { list: ReadByPages; text?: string }) {
  if (!list.hasNextPage) return null
  return (
    <div className="buttons">
      <button
        type="button"
        className="button"
        disabled={list.isFetchingNextPage}
        onClick={() => void list.fetchNextPage()}
      >
        {list.isFetchingNextPage ? 'Loading…' : text}
      </button>
    </div>
  )
}
