interface ReadByPages {
  hasNextPage: boolean
  isFetchingNextPage: boolean
  fetchNextPage: () => Promise<unknown>
}

/** Button that appends the next page of a list, or nothing on the last page. */
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
