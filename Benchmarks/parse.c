// The floor of reading a pipeline file: libyaml's events, counted and thrown away.
#include <stdio.h>
#include <yaml.h>

int main(int count, char **arguments) {
  FILE *file = count > 1 ? fopen(arguments[1], "rb") : NULL;
  if (!file) return fputs("usage: parse FILE\n", stderr), 2;
  yaml_parser_t parser;
  yaml_parser_initialize(&parser);
  yaml_parser_set_input_file(&parser, file);
  long events = 0;
  for (int done = 0; !done; events++) {
    yaml_event_t event;
    if (!yaml_parser_parse(&parser, &event)) return fputs("parse: not YAML\n", stderr), 1;
    done = event.type == YAML_STREAM_END_EVENT;
    yaml_event_delete(&event);
  }
  printf("%ld events\n", events);
  return 0;
}
