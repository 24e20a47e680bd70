// Says of each line `OPTION\tVALUE` of its input whether the handler of llama.cpp takes the value: 0 yes, 1 no, 3 no such
// option, 4 an option without a value. README.md says how it is compiled.
#include "arg.h"
#include "common.h"
#include <cstdio>
#include <iostream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
int main() {
    std::string line;
    while (std::getline(std::cin, line)) {
        auto cut = line.find('\t');
        std::string name = line.substr(0, cut), value = line.substr(cut + 1);
        fflush(stdout);
        pid_t pid = fork();
        if (pid == 0) {
            fclose(stderr);
            static common_params params;
            auto ctx = common_params_parser_init(params, LLAMA_EXAMPLE_SERVER, nullptr);
            int code = 3;
            for (auto & opt : ctx.options) {
                for (auto & arg : opt.args) {
                    if (name != arg) continue;
                    code = 0;
                    try {
                        if (opt.handler_int) { opt.handler_int(params, std::stoi(value)); }
                        else if (opt.handler_string) { opt.handler_string(params, value); }
                        else code = 4;
                    } catch (std::exception & e) { code = 1; }
                }
            }
            _exit(code);
        }
        int status; waitpid(pid, &status, 0);
        printf("%s\t%s\t%d\n", name.c_str(), value.c_str(), WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status));
    }
}
