# The course on Debian, built, with what scripts/setup.sh installs and nothing else; a GPU is not needed.
#
#   docker build -t course .
#   docker run -it --rm course                                    a shell in the course
#   docker run -it --rm -v "$PWD:/course" course ./course watch   with the files of this folder
#
# tests/classroom/bare_machine.sh runs the lines below without Docker, and so wants each RUN in one line.
FROM debian:bookworm-slim
ENV COURSE_BUILD_DIR=/build
WORKDIR /course
COPY scripts/setup.sh scripts/setup.sh
RUN sh scripts/setup.sh grade --yes && rm -rf /var/lib/apt/lists/*
RUN useradd --create-home --shell /bin/bash student && mkdir /build && chown student: /build /course
COPY --chown=student . .
USER student
RUN ./course check 01 --solution
RUN ./course doctor
CMD ["bash"]
