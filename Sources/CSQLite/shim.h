#include <sqlite3.h>

// Binds a copy of the text: SQLITE_TRANSIENT is a cast that Swift does not import.
static inline int csqlite_bind_text(
    sqlite3_stmt *statement, int place, const char *text, int count) {
  return sqlite3_bind_text(statement, place, text, count, SQLITE_TRANSIENT);
}

// Keeps the log: otherwise the last connection to a database copies it back when it closes, and
// waits for the disk twice.
static inline int csqlite_keep_log_on_close(sqlite3 *database) {
  return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

// Keeps SQLite from setting memory aside for small pieces and for pages: 130 KB by default, all
// written before the first statement, while a short run needs a few pages. SQLite does not count
// its memory either, because nobody asks for it. Must be called before anything else; later it has
// no effect.
static inline void csqlite_set_nothing_aside(void) {
  sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
  sqlite3_config(SQLITE_CONFIG_PAGECACHE, (void *)0, 0, 0);
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

// Keeps a file that was damaged on purpose from running anything that its schema contains.
static inline int csqlite_distrust_schema(sqlite3 *database) {
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
  return sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
}
